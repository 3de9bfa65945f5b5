// Turns in the order that strict upstreams want.
import { expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import type { Conversation, Part, Turn } from './conversation.ts'
import { emptyConversation } from './test-support.ts'
import { foldInstructions, mergeTurns, repairCalls } from './turns.ts'

const text = (value: string): Part => ({ type: 'text', text: value })
const call = (id: string): Part => ({ type: 'call', id, name: 'f', freeForm: false, input: '{}' })
const result = (callId: string, value: string): Part => ({
  type: 'result',
  callId,
  parts: [{ type: 'text', text: value }],
  isError: false,
})

const talk = (...turns: Turn[]): Conversation => ({ ...emptyConversation, turns })
const user = (...parts: Part[]): Turn => ({ role: 'user', parts })
const assistant = (...parts: Part[]): Turn => ({ role: 'assistant', parts })
const system = (...parts: Part[]): Turn => ({ role: 'system', parts })

function repaired(...turns: Turn[]) {
  const outcome = repairCalls({ ...emptyConversation, turns })
  if (outcome instanceof Refusal) throw new Error(outcome.message)
  return outcome
}

test('neighbours of one role become one turn, and what is empty is gone', () => {
  const turns = [user(text('a')), user(text(''), text('b')), assistant(text('')), user(text('c'))]
  expect(mergeTurns(turns)).toEqual([user(text('a'), text('b'), text('c'))])
})

test('a conversation in order stays as it is', () => {
  const turns = [
    user(text('a')),
    assistant(text('b'), call('1'), call('2')),
    user(result('1', 'x'), result('2', 'y'), text('c')),
  ]
  expect(repaired(...turns)).toEqual({ turns, changed: false })
})

test('results follow their calls, in the order of the calls', () => {
  const { turns, changed } = repaired(
    user(text('a')),
    assistant(call('1'), call('2')),
    system(text('be brief')),
    user(text('wait'), result('2', 'y')),
    assistant(text('yes')),
    user(result('1', 'x')),
  )
  expect(changed).toBe(false)
  expect(turns).toEqual([
    user(text('a')),
    assistant(call('1'), call('2')),
    user(result('1', 'x'), result('2', 'y')),
    system(text('be brief')),
    user(text('wait')),
    assistant(text('yes')),
  ])
})

test('of several results for a call the last one counts', () => {
  const { turns, changed } = repaired(
    assistant(call('1')),
    user(result('1', 'x'), result('1', 'y')),
    user(text('go on')),
  )
  expect(changed).toBe(true)
  expect(turns[1]!.parts).toEqual([result('1', 'y'), text('go on')])
})

test('a call without a result gets an error as one when the conversation goes on', () => {
  const { turns, changed } = repaired(assistant(call('1')), user(text('go on')))
  expect(changed).toBe(true)
  expect(turns[1]!.parts[0]).toMatchObject({ type: 'result', callId: '1', isError: true })
})

test('a conversation that ends with a call is refused', () => {
  expect(repairCalls(talk(user(text('a')), assistant(call('1'))))).toMatchObject({
    extras: { param: 'messages' },
  })
})

test('a result without a call is refused', () => {
  expect(repairCalls(talk(user(result('9', 'x'))))).toMatchObject({
    code: 'invalid_request',
    extras: { param: 'messages' },
  })
})

test('an id that every turn uses again is numbered, and each result stays with its call', () => {
  const { turns, changed } = repaired(
    assistant(call('call_0')),
    user(result('call_0', 'x')),
    assistant(call('call_0')),
    user(result('call_0', 'y')),
  )
  expect(changed).toBe(false)
  expect(turns).toEqual([
    assistant(call('call_0')),
    user(result('call_0', 'x')),
    assistant(call('call_0_2')),
    user(result('call_0_2', 'y')),
  ])
})

test('instructions go into the next turn of the user, after its results', () => {
  const { turns, changed } = foldInstructions([
    user(text('a')),
    assistant(call('1')),
    system(text('be brief')),
    user(result('1', 'x'), text('b')),
    system(text('in French')),
    assistant(text('oui')),
    system(text('now in German')),
  ])
  expect(changed).toBe(true)
  expect(turns).toEqual([
    user(text('a')),
    assistant(call('1')),
    user(
      result('1', 'x'),
      text('<system>\nbe brief\n</system>'),
      text('b'),
      text('<system>\nin French\n</system>'),
    ),
    assistant(text('oui')),
    user(text('<system>\nnow in German\n</system>')),
  ])
})

test('a conversation that uses one id for all of its calls is read in one pass', () => {
  const turns = Array.from({ length: 60_000 }, () => [
    assistant(call('call_0')),
    user(result('call_0', 'x')),
  ]).flat()
  const { turns: found, changed } = repaired(...turns)
  expect([found.length, changed]).toEqual([120_000, false])
  expect(found.at(-1)!.parts[0]).toMatchObject({ callId: 'call_0_60000' })
})
