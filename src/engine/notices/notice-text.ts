// The texts of a notice: the JSON that receivers parse, and the e-mail that people read.
import type { Notice } from '../../store/deliveries/notices.ts'

export const noticeBody = (notice: Notice): string => JSON.stringify(viewOf(notice))

const viewOf = ({ id, type, atMs, data }: Notice) => ({
  ...{ id, type },
  at: new Date(atMs).toISOString(),
  data,
})

interface MailText {
  subject: string
  text: string
}

/** A line to be seen, a sentence, and what it is about line by line. */
export const shortText = ({ type, data, atMs }: Notice): string =>
  [
    `[model-gateway] ${type}${aboutOf(data)}`,
    sentences[type],
    ...Object.entries(data).flatMap(([name, value]) => lineOf(name, value)),
    `at: ${new Date(atMs).toISOString()}`,
  ].join('\n')

/** A sentence, what it is about line by line, and the whole notice as receivers get it. */
export function mailOf(notice: Notice): MailText {
  const { type, data } = notice
  return {
    subject: `[model-gateway] ${type}${aboutOf(data)}`,
    text: [
      sentences[type],
      '',
      ...Object.entries(data).flatMap(([name, value]) => lineOf(name, value)),
      `at: ${new Date(notice.atMs).toISOString()}`,
      '',
      `The notice as JSON:`,
      JSON.stringify(viewOf(notice), null, 2),
      '',
    ].join('\n'),
  }
}

const sentences: Readonly<Record<Notice['type'], string>> = {
  'balance.low': 'The balance of an account has fallen below its threshold.',
  'balance.empty': 'A call was refused because the balance of its account does not cover it.',
  'budget.reached': 'A budget has been used up to the given percentage.',
  'channel.down': 'A channel is down: calls by it fail.',
  'channel.recovered': 'A channel serves calls again.',
  'key.rejected': 'An upstream rejects a key of a channel.',
  'price.missing': 'A channel serves a model that has no price, so it cannot be called.',
  'price.changed': 'A version of a price was made or withdrawn.',
  'margin.negative': 'More was paid to upstreams for a day of a model than was charged for it.',
  'bill.closed': 'The bill of a month was closed.',
  'loss.booked': 'A loss was booked: an upstream was paid for work that no caller pays for.',
  'ledger.problem': 'The ledger of an account does not add up. The account is suspended.',
  'task.failures': 'Half of the tasks of a model have failed on a channel within ten minutes.',
  error_rate: 'The share of failed requests is above the limit of a rule.',
  'charge.settled': 'Calls and tasks were charged.',
  'batch.completed': 'A batch of calls has ended.',
  test: 'This is a test: notices to this address arrive.',
}

/** A name in the subject, so that a list of mails can be read. */
function aboutOf(data: object): string {
  const { name, account, channel, model } = data as Partial<Record<string, unknown>>
  const about = [name, account, channel, model].find((each) => typeof each === 'string')
  return about === undefined ? '' : `: ${about}`
}

/** Long lists are in the JSON only. */
function lineOf(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return [`${name}: ${value.length}`]
  if (value === null) return []
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return [`${name}: ${text.replace(/\p{Cc}+/gu, ' ')}`]
}
