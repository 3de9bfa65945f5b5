// Images, documents and audio, in what the user says and in what tools give back.
import type { Part } from '../../../src/styles/common/conversation.ts'
import {
  assistant,
  type ConversationCase,
  call,
  result,
  user,
  weather,
} from './conversation-case.ts'

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image: Part = { type: 'image', mimeType: 'image/png', data: pixel }
const linked: Part = {
  type: 'image',
  mimeType: 'image/png',
  url: 'https://images.example/one.png',
  detail: 'low',
}
const pdf: Part = {
  type: 'document',
  mimeType: 'application/pdf',
  data: 'JVBERi0xLjQKJSVFT0YK',
  name: 'report.pdf',
}
const notes: Part = { type: 'document', mimeType: 'text/plain', text: 'Line one\nLine two' }
const file: Part = {
  type: 'document',
  mimeType: 'text/plain',
  data: 'TGluZSBvbmUKTGluZSB0d28=',
  name: 'notes.txt',
}
const sound: Part = { type: 'audio', mimeType: 'audio/wav', data: 'UklGRiQAAABXQVZF' }

const textChanges = {
  chat: ['document text'],
  responses: ['document text'],
  generate: ['document text'],
} as const

export const mediaCases: readonly ConversationCase[] = [
  {
    name: 'images of the user',
    conversation: {
      turns: [user('What is it?', image), assistant('A dot.'), user(linked, 'And this?', image)],
    },
  },
  {
    name: 'images in results',
    conversation: {
      tools: [weather],
      turns: [
        user('Take a picture'),
        assistant(
          call('call_1', 'weather', '{"city":"Paris"}'),
          call('call_2', 'weather', '{"city":"Rome"}'),
        ),
        user(result('call_1', 'Here:', image), result('call_2', image, image), 'Compare them.'),
      ],
    },
    changes: { chat: ['result'] },
  },
  {
    name: 'a PDF document',
    conversation: { turns: [user('Sum it up', pdf)] },
    changes: { generate: ['document.name'] },
    refuses: { chat: 'document' },
  },
  {
    name: 'a text document',
    conversation: { turns: [user('Sum it up', notes)] },
    changes: textChanges,
  },
  {
    name: 'a file of text',
    conversation: { turns: [user('Sum it up', file)] },
    changes: { ...textChanges, generate: ['document text', 'document.name'] },
    refuses: { chat: 'document' },
  },
  {
    name: 'audio of the user',
    conversation: { turns: [user('Listen', sound)] },
    refuses: { responses: 'audio', messages: 'audio' },
  },
]
