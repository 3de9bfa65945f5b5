// Archives are read by another program: Python's own reader, which verifies each file's sum.
import { expect, test } from 'bun:test'
import { python } from '../../../test/support/python.ts'
import { type ZipFile, zipOf } from './zip.ts'

if (!python.has()) console.error('left out: archives read by Python (install python3)')

const read = `
import io, json, sys, zipfile
z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert z.testzip() is None
print(json.dumps([[i.filename, z.read(i).decode(), list(i.date_time)] for i in z.infolist()]))`

async function* each(files: readonly ZipFile[]): AsyncGenerator<ZipFile> {
  yield* files
}

test.if(python.has()).each([
  ['no file', []],
  ['a file in any script', [{ name: '账单.html', text: '合计 €'.repeat(1_000) }]],
  [
    'several files, empty ones too',
    [
      { name: 'a.csv', text: '' },
      { name: 'b.csv', text: 'x' },
    ],
  ],
] as [string, ZipFile[]][])('%s is read as it was written', async (_, files) => {
  const bytes = await new Response(zipOf(each(files), Date.UTC(2026, 10, 18, 14, 44, 6))).bytes()
  const reader = Bun.spawnSync([python.program, '-c', read], { stdin: bytes })
  expect(reader.stderr.toString()).toBe('')
  const at = [2026, 11, 18, 14, 44, 6]
  expect(JSON.parse(reader.stdout.toString())).toEqual(
    files.map(({ name, text }) => [name, text, at]),
  )
})
