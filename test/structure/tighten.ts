// scripts/bun test/structure/tighten.ts: lowers every allowance to what the tree needs. It never raises one.
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import allowances from './allowances.json'
import { excess, measure, tightened } from './measure.ts'

const measures = measure()
const next = tightened(measures, allowances)
writeFileSync(resolve(import.meta.dir, 'allowances.json'), `${JSON.stringify(next, null, 2)}\n`)
for (const line of excess(measures, next)) process.stdout.write(`${line}\n`)
