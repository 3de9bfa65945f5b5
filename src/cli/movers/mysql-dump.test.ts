// Dumps as mysqldump writes them, in parts of any size.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { statementsOf } from './mysql-dump.ts'

const dump = `-- MySQL dump 10.13, "it's" of \`a
# what else; it's
/*!40101 SET NAMES 'utf8; */;
--
-- Dumping data for table \`users\`
--
INSERT INTO \`users\` VALUES (1,'--\\' ; /* # 王',-2,"a""b;",4/2,7-5);/*!40000 it's */
INSERT INTO \`users\` VALUES ('it''s; \\\\');
-- Dump completed`

const statements = [
  '\n\nINSERT INTO `users` VALUES (1,\'--\\\' ; /* # 王\',-2,"a""b;",4/2,7-5)',
  "\nINSERT INTO `users` VALUES ('it''s; \\\\')",
]

async function statementsIn(parts: readonly Uint8Array[]): Promise<string[]> {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
  const found = await Array.fromAsync(statementsOf(stream))
  return found.filter((each) => each.trim() !== '')
}

test('a dump has the same statements wherever it is cut', async () => {
  const bytes = Buffer.from(dump)
  const whole = await statementsIn([bytes])
  expect(whole.map((each) => each.trim())).toEqual(statements.map((each) => each.trim()))
  for (let at = 1; at < bytes.length; at++) {
    expect(await statementsIn([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole)
  }
  const cuts = fc.uniqueArray(fc.nat(bytes.length), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(cuts, async (given) => {
      const ends = [...given.sort((a, b) => a - b), bytes.length]
      const parts = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
      expect(await statementsIn(parts)).toEqual(whole)
    }),
    { numRuns: 50 },
  )
})
