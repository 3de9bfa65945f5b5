// Turns and the texts in them: instructions, order, long histories, odd characters.
import type { TextPart, Turn } from '../../../src/styles/common/conversation.ts'
import { assistant, type ConversationCase, instructions, text, user } from './conversation-case.ts'

const system = (...texts: string[]): TextPart[] =>
  texts.map((value) => ({ type: 'text', text: value }))

const history = Array.from({ length: 100 }, (_, index): Turn[] => [
  user(`Question ${index}`),
  assistant(`Answer ${index}: ${'word '.repeat(20)}`.trim()),
]).flat()

const odd = [
  'CRLF\r\nand\ttab and NUL \u0000 and \u0001',
  'lone \ud800 and \udc00 surrogates',
  'emoji \u{1f469}‍\u{1f52c}, combining é, right to left \u202eabc\u202c, BOM \ufeff',
  '"quoted" \\back\\slash / </script> data: [DONE]\n\nevent: x',
]

export const turnCases: readonly ConversationCase[] = [
  {
    name: 'a system prompt and several turns',
    conversation: {
      system: system('Be brief.', 'Answer in English.'),
      turns: [
        user('Hello'),
        assistant('Hi!'),
        user('How are you?'),
        assistant('Well.'),
        user('Go on'),
      ],
    },
  },
  {
    name: 'instructions between turns',
    conversation: {
      system: system('Be brief.'),
      turns: [
        user('Hello'),
        assistant('Hi!'),
        instructions('Now answer in German.'),
        user('Go on'),
      ],
    },
    changes: { chat: ['turns'], messages: ['turns'], generate: ['turns'] },
  },
  {
    name: 'instructions of the developer',
    conversation: { system: system('Be brief.'), turns: [user('Hello')] },
    own: {
      chat: ({ messages }) => {
        messages[0].role = 'developer'
      },
      responses: (body) => {
        body.instructions = 'Obey.'
      },
    },
  },
  {
    name: 'a history of 200 turns',
    conversation: { turns: [...history, user('And now?')] },
  },
  {
    name: 'texts and turns that are empty',
    refusedAtHome: ['messages'],
    conversation: { turns: [user('Hello'), assistant('Hi!'), user('Go on')] },
    own: {
      chat: ({ messages }) => {
        messages[0].content = [
          { type: 'text', text: messages[0].content },
          { type: 'text', text: '' },
        ]
        messages.splice(2, 0, { role: 'assistant', content: '' })
      },
      responses: ({ input }) => {
        input[0].content.push({ type: 'input_text', text: '' })
        input.splice(2, 0, { type: 'message', role: 'assistant', content: [] })
      },
      messages: ({ messages }) => {
        messages[0].content.push({ type: 'text', text: '' })
      },
      generate: ({ contents }) => {
        contents[0].parts.push({ text: '' })
        contents.splice(2, 0, { role: 'model', parts: [{ text: '' }] })
      },
    },
  },
  {
    name: 'an answer that was begun',
    conversation: { turns: [user('How much is it?')] },
    own: {
      chat: ({ messages }) => messages.push({ role: 'assistant', content: 'It is' }),
      responses: ({ input }) => input.push({ role: 'assistant', content: 'It is' }),
      messages: ({ messages }) => messages.push({ role: 'assistant', content: 'It is' }),
      generate: ({ contents }) => contents.push({ role: 'model', parts: [{ text: 'It is' }] }),
    },
    refuses: { chat: 'turns', responses: 'turns', generate: 'turns' },
  },
  {
    name: 'a conversation that the assistant began',
    conversation: { turns: [assistant('Welcome.'), user('Hello')] },
    changes: { messages: ['turns'], generate: ['turns'] },
  },
  {
    name: 'odd characters',
    conversation: {
      system: system(odd[0]!),
      turns: [user('Odd', ...odd), assistant(odd[2]!), user('?')],
    },
  },
  {
    name: 'a text of white space',
    conversation: { turns: [user('Hello', text(' \n')), assistant('Hi'), user('Go on')] },
    changes: { messages: ['turns'] },
  },
  {
    name: 'a refusal of an earlier turn',
    conversation: {
      turns: [user('Do it'), assistant({ type: 'refusal', text: 'I cannot.' }), user('Why?')],
    },
    own: {
      chat: ({ messages }) => {
        messages[1] = { role: 'assistant', content: null, refusal: 'I cannot.' }
      },
    },
    changes: { chat: ['refusal'], messages: ['refusal'], generate: ['refusal'] },
  },
]
