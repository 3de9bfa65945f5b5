// Every code and kind that the gateway may show in the console has a text in both languages.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as codes from '../../console/lib/server/codes.ts'
import { errorCodes } from '../../console/lib/server/errors.ts'
import { sentenceInChinese } from '../../console/lib/server/sentences.ts'
import { stepTitles } from '../../console/lib/server/timeline.ts'
import type { Messages } from '../../console/lib/texts.ts'
import { logLines } from '../../console/pages/health/log-lines.ts'
import { task } from '../../src/admin/tasks/task-schema.ts'
import {
  explainReading,
  explainRefunds,
  explainTokens,
  explainUnits,
} from '../../src/billing/bills/explain.ts'
import { explainLoss } from '../../src/billing/call-loss.ts'
import { LossSum } from '../../src/billing/loss-sum.ts'
import { checks } from '../../src/billing/proof/audit-findings.ts'
import { modelKinds } from '../../src/contract/catalog.ts'
import { refusals } from '../../src/contract/errors.ts'
import { type Entry, entryKinds, lossReasons } from '../../src/contract/ledger.ts'
import { noticeTypes } from '../../src/contract/notices/webhooks.ts'
import { roles } from '../../src/contract/people.ts'
import type { Price, PriceTerms } from '../../src/contract/price.ts'
import type { CallEnding } from '../../src/contract/requests.ts'
import type { TokenUsage } from '../../src/contract/usage.ts'
import { implausibleMessage } from '../../src/engine/calls/usage-alerts.ts'
import { root } from '../support/gateway.ts'

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/test|migrations/.test(path))
  .map((path) => readFileSync(join(root, 'src', path), 'utf8'))

const foundIn = (texts: readonly string[], pattern: RegExp): string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, found]) => found!))),
]

const admin = sources.filter((text) => text.includes('noteChange') || text.includes('audit'))
const auditActions = foundIn(admin, /action(?:: | = )'([a-z_]+(?:\.[a-z_]+)?)'/g)
const alerts = sources.filter((text) => text.includes('raiseAlert(tx'))
const alertKinds = foundIn(alerts, /\bkind(?:: | = )'([a-z_]+)'(?:, subject|\n)/g)

const endings: Record<CallEnding, true> = {
  complete: true,
  refused: true,
  failed: true,
  caller_left: true,
  cut_short: true,
}

const steps = Object.fromEntries(
  Object.entries(stepTitles).flatMap(([kind, { one, many = one }]) => [
    [kind, one],
    [`${kind}, several`, many],
  ]),
)

const known: [string, Messages<string>, readonly string[]][] = [
  ['error codes', errorCodes, Object.keys(refusals)],
  ['audit actions', codes.auditActions, auditActions],
  ['alert kinds', codes.alertKinds, alertKinds],
  ['alert advice', codes.alertAdvice, alertKinds],
  ['endings of calls', codes.callEndings, Object.keys(endings)],
  ['reasons of losses', codes.lossReasons, lossReasons],
  ['checks of the ledger', codes.ledgerChecks, Object.keys(checks)],
  ['kinds of ledger entries', codes.entryKinds, entryKinds],
  ['kinds of models', codes.modelKinds, modelKinds],
  ['types of notices', codes.noticeTypes, [...noticeTypes, 'test']],
  ['roles', codes.roles, roles],
  ['units', codes.units, ['token', 'image', 'video_second', 'video_token']],
  ['steps of a timeline', steps, task.shape.timeline.element.shape.kind.options],
]

test.each(known)('%s of the gateway have a text in English and in Chinese', (_, texts, all) => {
  expect(all.length).toBeGreaterThan(2)
  const missing = all.filter((code) => !Object.hasOwn(texts, code))
  expect(missing).toEqual([])
})

test('English texts are English, and Chinese texts are Chinese', () => {
  const chinese = /[\u4e00-\u9fff]/
  for (const [, texts] of known) {
    for (const [en, zh] of Object.values(texts)) {
      expect(en).not.toMatch(chinese)
      expect(zh).toMatch(/[\u4e00-\u9fff]|^Token$/)
    }
  }
})

const priced = (terms: PriceTerms) => ({ model: 'txt-1', terms }) as Price
const rates = { inputNanos: 1n, outputNanos: 1n, cacheReadNanos: 1n, cacheWriteNanos: 1n }
const usage = { inputTokens: 12, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 2 }

const atNight = { fromMinute: 0, toMinute: 60, zone: 'UTC', factorNanos: 500_000_000n }
const others = [{ ...usage, model: 'other', priceId: 'p', applied: { hours: 0 } }]
const parts = { cacheWrite1hTokens: 1, inputAudioTokens: 2, outputImageTokens: 2 }
const several: TokenUsage = {
  ...{ inputTokens: 60, outputTokens: 20, cacheReadTokens: 9, cacheWriteTokens: 9 },
  ...{ parts, others },
  toolCalls: { web_search: 2 },
}
const applied = { hours: 0, geo: 'us', serviceTier: 'flex' }
const all: PriceTerms = {
  ...{ unit: 'token', tiers: [{ upTo: 10, ...rates }, rates], hours: [atNight] },
  ...{ geo: { us: 1_100_000_000n }, serviceTiers: { flex: { factorNanos: 500_000_000n } } },
}

const refund = { kind: 'refund', amountNanos: 5n, atMs: 0, note: 'cut off' } as Entry

test('every line of the arithmetic of a charge is put into Chinese', () => {
  const tiers = [{ upTo: 10, ...rates }, rates]
  const lines = [
    ...explainTokens(priced({ unit: 'token', tiers }), usage, 'CNY'),
    ...explainTokens(priced({ unit: 'token', tiers }), { ...usage, inputTokens: 8 }, 'CNY'),
    ...explainTokens(priced(all), several, 'CNY', applied, () => all),
    ...explainReading({ prompt_tokens: 12 }, usage),
    ...explainReading({ input_tokens: 7 }, usage),
    ...explainReading({}, { ...usage, cacheReadTokens: 0, cacheWriteTokens: 0 }),
    ...unitLines({ unit: 'image', perImageNanos: 5n }),
    ...unitLines({ unit: 'image', perSizeNanos: { '1k': 5n }, defaultSize: '1k' }, '1k'),
    ...unitLines({ unit: 'video_second', perSecondNanos: { '720p': 5n } }, '720p'),
    ...unitLines({ unit: 'video_token', perMillionNanos: 5n }),
    ...unitLines({ unit: 'search', rateNanos: 5n }),
    ...unitLines({ unit: 'character', rateNanos: 5n }),
    ...unitLines({ unit: 'audio_second', rateNanos: 5n }),
    ...unitLines({ unit: 'image', perImageNanos: 5n, hours: [atNight] }),
    ...unitLines({ unit: 'free' }),
    ...explainRefunds([refund]).steps,
  ]
  expect(lines.length).toBeGreaterThan(40)
  expect(lines.filter((line) => sentenceInChinese(line) === undefined)).toEqual([])
})

const unitLines = (terms: PriceTerms, tier?: string): string[] =>
  [1, 2].flatMap((quantity) => explainUnits(priced(terms), { quantity, tier, hours: 0 }, 'CNY'))

/** Reasons that are written as plain texts, found where they are written. */
const reasonsIn = (path: string, pattern: RegExp): string[] =>
  foundIn([readFileSync(join(root, 'src', path), 'utf8')], pattern)

test('losses of a call are explained in Chinese', () => {
  const lines = lossReasons.flatMap((reason) =>
    [true, false].flatMap((estimated) =>
      explainLoss({ loss: [{ reason, channel: 'c', nanos: '1000', estimated }] }),
    ),
  )
  expect(lines.length).toBe(lossReasons.length * 2)
  expect(lines.filter((line) => sentenceInChinese(line) === undefined)).toEqual([])
})

test('reasons that the console shows are put into Chinese', () => {
  const reasons = [
    ...reasonsIn('admin/catalog/models.ts', /\['(\w[^']+ [^']+)'\]/g),
    ...reasonsIn('billing/prices/reprice.ts', /return ['`]([^'`]+ [^'`]+)['`]/g),
    ...reasonsIn('engine/routing/discover-models.ts', /error = '([^']+)'/g),
    ...reasonsIn('admin/catalog/channel-store.ts', /`((?:channel|region|there) [^`]+)`/g),
    ...reasonsIn('admin/catalog/channel-origins.ts', /`([^`]+)`/g),
    'no channel serves it, and it has no price in force',
  ].map((reason) => reason.replaceAll(/\$\{[^}]+\}/g, 'x'))
  expect(reasons).toHaveLength(14)
  expect(reasons.filter((reason) => sentenceInChinese(reason) === undefined)).toEqual([])
})

test('why bills are not sent is put into Chinese', () => {
  const reasons = [
    ...reasonsIn('admin/closing/send-all.ts', /refuse\('conflict', '([^']+)'\)/g),
    ...reasonsIn('admin/closing/send-all.ts', /\{ problem: '([^']+)' \}/g),
    ...reasonsIn('admin/closing/mail-link.ts', /`(e-mail cannot [^`]+)`/g),
  ].map((reason) => reason.replaceAll(/\$\{[^}]+\}/g, 'x'))
  expect(reasons).toHaveLength(4)
  expect(reasons.filter((reason) => sentenceInChinese(reason) === undefined)).toEqual([])
})

test('messages of alerts are put into Chinese', () => {
  const one = new LossSum('acc_1', 'caller_left')
  one.add('req_1', 5n)
  const first = one.message
  one.add('req_2', 5n)
  const written = ['engine/catalog/missing-prices.ts', 'billing/voided.ts'].flatMap((path) =>
    reasonsIn(path, /message =\s+[`'](.+)[`']\n/g),
  )
  const none = { cacheReadTokens: 0, cacheWriteTokens: 0 }
  const implausible = implausibleMessage(
    { channel: 'far', requestId: 'req_1', model: 'txt-1' },
    { windowTokens: 5, outputTokens: 6 },
    { ...none, inputTokens: 7, outputTokens: 8 },
    { ...none, inputTokens: 5, outputTokens: 6 },
  )
  const all = [first, one.message, implausible, ...written].map((text) =>
    text.replaceAll(/\$\{\w+\}/g, 'x'),
  )
  expect(all).toHaveLength(5)
  expect(all.filter((text) => sentenceInChinese(text) === undefined)).toEqual([])
})

/** Texts of more than one word, however they are quoted. */
const textsIn = (path: string): string[] => {
  const code = readFileSync(join(root, 'src', path), 'utf8').replaceAll(/^ *(\/\/|\/?\*).*$/gm, '')
  const templates = foundIn([code], /`([^`\n]*)`/g)
  const plain = foundIn([code.replaceAll(/`[^`]*`/g, '')], /'([^'\n]*)'/g)
  return [...templates, ...plain].filter((text) => text.includes(' '))
}

test('what an audit of the ledger finds is put into Chinese', () => {
  const written = ['audit', 'audit-chain', 'audit-charges', 'audit-months', 'audit-recent'].flatMap(
    (name) => textsIn(`billing/proof/${name}.ts`),
  )
  const stored = ['audit', 'audit-chain', 'audit-tasks'].flatMap((name) =>
    reasonsIn(`store/proof/${name}.ts`, /(?:problem: |mismatches\(\w+, )['`]([^'`]+)['`]/g),
  )
  // Parts of the sentences about receipts and closed months, which are below.
  const isWhole = (text: string) => !/^\$\{|gone\} gone$|kind\} has|month\}: \$/.test(text)
  const amounts = written.filter((text) => /^\$\{\w+\} are (?:charged|held|drawn)/.test(text))
  const all = [...written, ...stored].filter(isWhole).concat(amounts)
  expect(all.length).toBeGreaterThan(45)
  const sentences = [
    ...all.map((text) => text.replaceAll(/\$\{[^}]+\}/g, 'x')),
    ...['receipt 3 is gone', 'receipt 3 to 5 are gone', 'a hold has no receipt'],
    ...['a release has no receipt', 'the closed month 2026-01: charges was 1.00 and is 2.00'],
    'entry 5, receipt 3, req_1: charge and request row do not agree',
    'the trigger a that keeps entries from being changed is not there; the trigger b that keeps entries from being changed is not there',
    'the closed bill of 2026-01 is not what the ledger says: charges was 1.00 and is 2.00',
  ]
  expect(sentences.filter((text) => sentenceInChinese(text) === undefined)).toEqual([])
  expect(sentenceInChinese('entry 5, receipt 3, req_1: charge and request row do not agree')).toBe(
    '流水 5，凭据 3，req_1：消费与请求记录不一致',
  )
})

test('warnings and errors of the log are put into Chinese', () => {
  const lines = [
    ...foundIn(sources, /\blog\.(?:warn|error)\(\s*'([^']+ [^']+)'/g),
    ...foundIn(sources, /\bfailure = '([^']+)'/g),
  ]
  expect(lines.length).toBeGreaterThan(30)
  // A new line is shown in English until it is in the list.
  const missing = lines.filter((line) => !Object.hasOwn(logLines, line))
  expect(missing.length).toBeLessThan(lines.length / 10)
})

test('what the explanation of a task says is put into Chinese', () => {
  const lines = [
    'set aside when it was made: 3.00 CNY',
    'nothing was charged: the task is cancelled',
    'as reported, and no more than was asked for: 5 x video second',
    'the upstream reported no usage; what was asked for counts',
    "channel 'far' is down: all its keys are rejected",
    "channel 'far' is down: its circuit is open: calls fail",
  ]
  expect(lines.filter((line) => sentenceInChinese(line) === undefined)).toEqual([])
})

test('a line of another shape stays as it is', () => {
  expect(sentenceInChinese('something new')).toBeUndefined()
})
