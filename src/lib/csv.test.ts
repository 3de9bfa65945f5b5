import { expect, test } from 'bun:test'
import { csvRow } from './csv.ts'

test('a row is its cells, quoted where they must be', () => {
  expect(csvRow(['a', 1, null, undefined, 'x,y', 'say "hi"', 'two\nlines', true])).toBe(
    'a,1,,,"x,y","say ""hi""","two\nlines",true\r\n',
  )
})

test('what would be a formula is a text, and a number is a number', () => {
  expect(csvRow(['=1+1', '@SUM(A1)', '+49', '-cmd', '\tx', '-0.5', '12', '-3e5'])).toBe(
    "'=1+1,'@SUM(A1),'+49,'-cmd,'\tx,-0.5,12,'-3e5\r\n",
  )
})
