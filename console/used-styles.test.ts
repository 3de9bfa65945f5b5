import { expect, test } from 'bun:test'
import { usedStyles } from './used-styles.ts'

const scripts = 'const a={root:"m_aaaaaaaa",label:"m_bbbbbbbb"}'

test('rules of classes that a script names stay, and all rules without such a class', () => {
  const style =
    '@charset "utf-8";.m_aaaaaaaa{color:red}.send-row{top:0}:root{--a:1}@keyframes m{0%{top:0}to{top:1px}}'
  expect(usedStyles(style, scripts)).toBe(style)
})

test('others go, also out of lists of selectors and groups of rules', () => {
  expect(
    usedStyles(
      '.m_cccccccc{top:0}.m_aaaaaaaa,.m_cccccccc>b{top:1px}@media (a){.m_cccccccc{top:2px}}' +
        '@media (b){.m_bbbbbbbb .m_cccccccc{top:3px}.m_bbbbbbbb{top:4px}}',
      scripts,
    ),
  ).toBe('.m_aaaaaaaa{top:1px}@media (b){.m_bbbbbbbb{top:4px}}')
})

test('what stands in parentheses are alternatives, and their comma parts no selectors', () => {
  for (const style of [
    '.m_aaaaaaaa:is(:hover,:focus){top:0}',
    '.m_aaaaaaaa:where(.m_cccccccc,p){top:0}',
  ]) {
    expect(usedStyles(style, scripts)).toBe(style)
  }
})
