// Every conversation in every pair of styles, over HTTP: what the upstream was asked is the caller's
// conversation but for the losses that the answer and the request log declare, and each of these is
// real; the answer keeps the caller's grammar and says what the upstream said, as JSON and as a stream.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  knownFields,
  outcomeOf,
  probeRequests,
  probes,
} from '../../scripts/translation-fields/outcomes.ts'
import { translationFieldsText } from '../../scripts/translation-fields.ts'
import { type StyleName, styleNames } from '../../src/styles/common/conversation.ts'
import { ToolNames } from '../../src/styles/common/tool-names.ts'
import { styles } from '../../src/styles/index.ts'
import { textOf } from '../support/docs/pages.ts'
import { errorIn, listAll, type RequestRow, requestIdOf } from '../support/read.ts'
import type { Body, ConversationCase } from './conversations/conversation-case.ts'
import { cases } from './conversations/index.ts'
import { type AnswerSaid, answerOf, expectGrammar, jsonSaid, streamSaid } from './matrix/answers.ts'
import { named, pathOf, readAs, requestOf } from './matrix/callers.ts'
import { expectedOutcome } from './matrix/expected.ts'
import { compare } from './matrix/losses.ts'
import type { Exchange } from './matrix/recorder.ts'
import { said } from './matrix/said.ts'
import { goOn, sealsIn, thoughtfulCall } from './matrix/second-turn.ts'
import { type Stage, startStage } from './matrix/stage.ts'

/** What every request has. */
const asked = ['model', 'messages', 'input', 'contents', 'stream', 'text', 'generationConfig']
const anyName = /^.*$/s

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage.stop())

/** One call of a case, and what came of it on both sides. */
interface Sent {
  mark: string
  body: Body
  status: number
  path: string | null
  losses: string[]
  answer: string
  exchange: Exchange | undefined
}

/** By the id of the request: what its answer declared. */
const declared = new Map<string, { path: string | null; losses: string[] }>()

async function send(
  each: ConversationCase,
  from: StyleName,
  to: StyleName,
  stream: boolean,
): Promise<Sent> {
  const mark = `#${cases.indexOf(each)}.${from}.${to}`
  const { path, body } = requestOf(each, { from, model: `over-${to}`, stream, mark })
  if (each.answer !== undefined) {
    stage.recorder.answerWith(mark, stream, answerOf(to, each.answer, stream))
  }
  const response = await stage.gateway.post(path, body)
  const answer = await response.text()
  const lost = response.headers.get('x-gateway-translation-loss')
  const note = {
    path: response.headers.get('x-gateway-translation'),
    losses: lost === null ? [] : lost.split(';'),
  }
  declared.set(requestIdOf(response), note)
  const exchange = stage.recorder.exchange(mark, stream)
  return { ...note, mark, body, status: response.status, answer, exchange }
}

/** The same bytes but for the name of the model, and usage that the gateway asks for. */
function expectForwarded(each: ConversationCase, to: StyleName, sent: Sent): void {
  if (each.strippedAtHome?.includes(to)) {
    expect([sent.path, sent.status]).toEqual([`${to}>${to}`, 200])
    return
  }
  const { model: _, stream_options: __, ...asked } = JSON.parse(sent.exchange!.body)
  const { model: ___, stream_options: ____, ...given } = sent.body
  const status = each.refusedAtHome?.includes(to) ? 400 : 200
  expect({ path: sent.path, status: sent.status, asked }).toEqual({
    path: null,
    status,
    asked: given,
  })
}

function expectTranslated(
  each: ConversationCase,
  from: StyleName,
  to: StyleName,
  sent: Sent,
): void {
  const { read } = readAs(from, JSON.stringify(sent.body))
  const outcome = expectedOutcome(each, from, to, read)
  if ('refused' in outcome) {
    expect([sent.status, sent.exchange]).toEqual([400, undefined])
    if (from !== 'messages' && from !== 'generate') {
      expect(errorIn(sent.answer).param).toBe(outcome.refused)
    }
    expect(errorIn(sent.answer).message).toContain(`'${outcome.refused}'`)
    return
  }
  expect(sent).toMatchObject({ status: 200, path: `${from}>${to}`, losses: outcome.losses })
  const names = new ToolNames(read.tools, styles[to].toolName)
  const asked = readAs(to, sent.exchange!.body)
  expect(asked.losses).toEqual([])
  const unread = each.unread?.[from] ?? []
  const losses = sent.losses.filter((name) => !unread.includes(name))
  const compared = compare(read, said(read), said(asked.read, names), losses)
  expect(compared.asked).toEqual(compared.given)
  expect(compared.untrue).toEqual([])
}

/** What the caller was told, and what the upstream said. */
function answersOf(from: StyleName, to: StyleName, sent: Sent, stream: boolean): AnswerSaid[] {
  const { read } = readAs(from, JSON.stringify(sent.body))
  const own = new ToolNames(read.tools, anyName)
  const upstreams = new ToolNames(read.tools, from === to ? anyName : styles[to].toolName)
  if (from !== to && sent.exchange!.body.includes('"json_answer"')) {
    upstreams.answerTool = 'json_answer'
  }
  const saidIn = stream ? streamSaid : jsonSaid
  const upstream = saidIn(to, sent.exchange!.answer, upstreams)
  const isHidden = from !== to && read.showReasoning === false
  const answers = [
    saidIn(from, sent.answer, own),
    isHidden ? { ...upstream, reasoning: '' } : upstream,
  ]
  // This style does not say where in a text a source belongs.
  return from === 'messages' || to === 'messages' ? answers.map(withoutPlaces) : answers
}

const withoutPlaces = ({ sources, ...rest }: AnswerSaid): AnswerSaid => ({
  ...rest,
  sources: sources.map(({ start: _, end: __, ...source }) => source),
})

const pairs = styleNames.flatMap((from) => styleNames.map((to) => [from, to] as const))

describe.each(pairs)('%s over %s', (from, to) => {
  test.each(cases.map((each) => [each.name, each] as const))('%s', async (_, each) => {
    const calls = await Promise.all([false, true].map((stream) => send(each, from, to, stream)))
    for (const sent of calls) {
      if (from === to) expectForwarded(each, to, sent)
      else expectTranslated(each, from, to, sent)
    }
    if (calls.some(({ status }) => status !== 200)) return
    if (from === to && each.strippedAtHome?.includes(to)) return
    const [whole, wholeUpstream] = answersOf(from, to, calls[0]!, false)
    const [streamed, streamedUpstream] = answersOf(from, to, calls[1]!, true)
    if (from !== to || !each.isOutOfOrder) expectGrammar(from, calls[1]!.answer)
    expect({ whole, streamed }).toEqual({ whole: wholeUpstream, streamed: streamedUpstream })
    expect(streamed).toEqual({ ...whole!, usage: streamed!.usage })
  })
})

/** The field that an error names. What is stored upstream is not found, whatever holds its id. */
function refusedIn(status: number, answer: string): string {
  const [, field] = /'([^']+)'/.exec(errorIn(answer).message) ?? []
  return status === 404 ? 'stored' : (field ?? '')
}

const storedUpstream =
  /file_id$|fileUri$|source\.type$|^input\[1\]\.type$|^(?:previous_response_id|conversation|prompt|prompt\.id|container|cachedContent)$/

/** Styles that differ. */
const translated = pairs.filter(([from, to]) => from !== to)

describe.each(translated)('the reasoning of a call, %s over %s', (from, to) => {
  const ask = async (body: Body, model: string) => {
    const response = await stage.gateway.post(pathOf(from, model, false), {
      ...body,
      ...named(from, model),
    })
    const lost = response.headers.get('x-gateway-translation-loss')?.split(';') ?? []
    return { status: response.status, answer: await response.text(), lost }
  }

  test('goes back to the upstream that sealed it, and to no other', async () => {
    const mark = `#seals.${from}.${to}`
    const { body } = requestOf(thoughtfulCall, { from, model: `over-${to}`, stream: false, mark })
    const first = await ask(body, `over-${to}`)
    const seals = sealsIn(to, stage.recorder.exchange(mark, false)!.answer)
    goOn[from](body, JSON.parse(first.answer))
    const { fieldNames } = readAs(from, JSON.stringify(body)).read
    const again = await ask(body, `over-${to}`)
    expect(again).toMatchObject({ status: 200, lost: first.lost })
    const asked = stage.recorder.exchange(mark, false)!.body
    expect(seals.filter((seal) => !asked.includes(seal))).toEqual([])
    const other = await ask(body, `other-${to}`)
    expect(other).toMatchObject({ status: 200, lost: [...first.lost, fieldNames.reasoning].sort() })
    const elsewhere = stage.recorder.exchange(mark, false)!.body
    expect(seals.filter((seal) => elsewhere.includes(seal))).toEqual([])
  })
})

describe.each(translated)('the fields of %s over %s', (from, to) => {
  test('have the outcomes that the guide shows', async () => {
    const model = `over-${to}`
    const fields = Object.keys(probes[from].probes)
    const found = await Promise.all(
      fields.map(async (field) => {
        const { probe } = probeRequests(from, field)
        const body = { ...probe, ...named(from, model) }
        const response = await stage.gateway.post(pathOf(from, model, false), body)
        const answer = await response.text()
        const lost = response.headers.get('x-gateway-translation-loss')?.split(';') ?? []
        return [
          field,
          response.status === 200 ? { lost } : { refused: refusedIn(response.status, answer) },
        ]
      }),
    )
    const shown = fields.map((field) => {
      const { kind, names, losses } = outcomeOf(from, to, field)
      const refused = storedUpstream.test(names[0] ?? '') ? 'stored' : names[0]
      return [field, kind === 'refused' ? { refused } : { lost: losses }]
    })
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(shown))
  })

  test('are all that the conversations lost', () => {
    const shown = new Set(
      Object.keys(probes[from].probes).flatMap((field) => [...outcomeOf(from, to, field).names]),
    )
    const lost = [...declared.values()]
      .filter(({ path }) => path === `${from}>${to}`)
      .flatMap(({ losses }) => losses)
    expect([...new Set(lost)].filter((name) => !shown.has(name) && !/unknown/i.test(name))).toEqual(
      [],
    )
  })
})

test('the guide has a row for every field that a reader knows', () => {
  for (const style of styleNames) {
    const rows = Object.keys(probes[style].probes)
    const isShown = (name: string) =>
      rows.some((row) => row.split(/[ (]/)[0]!.split('.').includes(name))
    const missing = knownFields[style]
      .map((name) => name.split('.').at(-1)!)
      .filter((name) => !isShown(name) && !asked.includes(name))
    expect({ style, missing }).toEqual({ style, missing: [] })
  }
})

test('the guide shows what the translation does', () => {
  expect(textOf('docs/use/translation-fields.md')).toBe(translationFieldsText())
})

test('the request log declares what the answers declared', async () => {
  const rows = await listAll<RequestRow & Body>(stage.gateway, '/requests?limit=500')
  const logged = new Map(
    rows.map(({ request_id: id, translation = null, translation_losses: losses = [] }) => [
      id,
      { path: translation, losses },
    ]),
  )
  for (const [id, note] of declared) {
    if (note.path !== null) expect(logged.get(id)).toEqual(note)
  }
  expect(declared.size).toBe(cases.length * pairs.length * 2)
})
