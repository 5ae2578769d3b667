// An agent in Node: it starts its first argument by every way that Node has.
const cp = require('child_process');
const { Worker, isMainThread } = require('worker_threads');

const child = process.argv[2];
const print = (text) => process.stdout.write(text);

if (!isMainThread) {
  print(cp.execFileSync(child, ['-l', 'worker']).toString());
} else if (process.env.BECOME) {
  print('fork: ' + (process.env.AGENT_KEY ? 'has the key' : 'clean') + '\n');
} else {
  print('agent: ' + (process.env.AGENT_KEY ? 'has the key' : 'has no key') + '\n');
  print(cp.spawnSync(child, ['-l', 'spawnSync']).stdout.toString());
  print(cp.execSync(child + ' -l execSync').toString());
  const steps = [
    (next) => cp.exec(child + ' -l exec', (e, out) => next(e ? String(e) : out)),
    (next) => cp.execFile(child, ['-l', 'execFile'], (e, out) => next(e ? String(e) : out)),
    (next) => spawned(cp.spawn(child + ' -l spawn-shell', { shell: true }), next),
    (next) => spawned(cp.spawn(child, ['-l', 'spawn-env', 'SET', 'AGENT_KEY'], { env: { ...process.env, SET: 'on-purpose', AGENT_KEY: 'other' } }), next),
    (next) => spawned(cp.fork(__filename, [child], { env: { ...process.env, BECOME: '1' }, silent: true }), next),
    (next) => new Worker(__filename, { argv: [child] }).on('exit', () => next('')),
  ];
  const step = () => { const s = steps.shift(); if (s) s((out) => { print(out); step(); }); };
  step();
}

function spawned(p, next) {
  let out = '';
  p.stdout.on('data', (d) => { out += d; });
  p.on('close', () => next(out));
}
