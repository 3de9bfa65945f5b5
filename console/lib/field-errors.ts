// What is wrong with a field while it is typed, in the words of the reader. The gateway checks it again.
import { proposedName } from './field-names.ts'
import { defineMessages } from './i18n.ts'
import { useMessages } from './messages.ts'

const messages = defineMessages({
  name: [
    'Only letters a–z, digits, dots, dashes and underscores, 64 at most.',
    '只能使用英文字母、数字、点、连字符和下划线，最多 64 个字符。',
  ],
  proposal: ['Try “{name}”.', '可以使用“{name}”。'],
  person: [
    'From 2 to 100 letters a–z, digits and . @ + - _',
    '2 至 100 个字符，只能使用英文字母、数字和 . @ + - _',
  ],
  amount: ['An amount such as 100 or 0.25.', '请输入金额，例如 100 或 0.25。'],
  password: ['At least 12 characters; {n} to go.', '至少 12 个字符，还差 {n} 个。'],
})

const minPassword = 12

const patterns = {
  name: /^[A-Za-z0-9._-]{1,64}$/,
  person: /^[\w.@+-]{2,100}$/,
  amount: /^\d{1,12}(\.\d{1,9})?$/,
} as const

type Rule = keyof typeof patterns | 'password'

/** For the `error` of a field; nothing is wrong with an empty one. */
export function useFieldError(): (rule: Rule, value: string) => string | undefined {
  const t = useMessages(messages)
  return (rule, value) => {
    const text = rule === 'password' ? value : value.trim()
    if (text === '') return undefined
    if (rule === 'password') {
      const missing = minPassword - [...text].length
      return missing > 0 ? t('password', { n: missing }) : undefined
    }
    if (patterns[rule].test(text)) return undefined
    const proposal = rule === 'name' ? proposedName(text) : ''
    return proposal === '' ? t(rule) : `${t(rule)} ${t('proposal', { name: proposal })}`
  }
}
