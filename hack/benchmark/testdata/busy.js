// Computes for a while and prints how many nanoseconds that took.
const start = process.hrtime.bigint()
let x = 1
for (let i = 0; i < 4e8; i++) x = (x * 1103515245 + i) & 0x7fffffff
if (x < 0) process.exit(1)
console.log(String(process.hrtime.bigint() - start))
