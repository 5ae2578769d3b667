// Starts a program N times with spawnSync, one after the other, and prints how many nanoseconds that took.
const { spawnSync } = require('child_process')
const [program, n] = process.argv.slice(2)
const start = process.hrtime.bigint()
for (let i = 0; i < Number(n); i++) {
  if (spawnSync(program).status !== 0) process.exit(1)
}
console.log(String(process.hrtime.bigint() - start))
