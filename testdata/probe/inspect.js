// A Node agent whose tool tries to open its inspector.
const cp = require('child_process');

console.log('agent: ' + (process.env.AGENT_KEY ? 'has the key' : 'has no key'));
const tool = `
const http = require('http');
let tries = 0;
const say = (what) => { console.log('inspector: ' + what); process.exit(0); };
const look = () => {
  process.kill(process.ppid, 'SIGUSR1');
  http.get('http://127.0.0.1:9229/json', (r) => say('open')).on('error', () => {
    if (++tries === 25) say('closed');
    setTimeout(look, 40);
  });
};
look();
`;
cp.execFile(process.execPath, ['-e', tool], (e, out) => { process.stdout.write(e ? String(e) : out); process.exit(e ? 1 : 0); });
