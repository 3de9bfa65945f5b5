// Sample requests that show what an interface can do.
import { type Conversation, emptySetUp, type SetUp } from '../chat/conversation.ts'
import type { Preset } from './presets.ts'

type SampleName =
  | 'sample_json'
  | 'sample_tool'
  | 'sample_long'
  | 'sample_near'
  | 'sample_four'
  | 'sample_hd'

const weather = {
  name: 'get_weather',
  description: 'The weather in a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const rivers = {
  type: 'object',
  properties: { rivers: { type: 'array', items: { type: 'string' } } },
  required: ['rivers'],
  additionalProperties: false,
}
const story = 'Tell a story about a lighthouse and a storm, in five paragraphs.'
const list = 'Name three rivers as JSON: {"rivers": []}'

const said = (prompt: string, more: Partial<SetUp> = {}): Conversation => ({
  ...{ prompt, lanes: [], setUp: { ...emptySetUp, ...more } },
})

/** In any style of text. */
const conversations: readonly [SampleName, Conversation][] = [
  [
    'sample_tool',
    said('What is the weather in Paris?', { tools: JSON.stringify([weather], null, 2) }),
  ],
  ['sample_json', said(list, { format: 'json_schema', schema: JSON.stringify(rivers, null, 2) })],
  ['sample_long', said(story, { max_tokens: 1_000 })],
]

const bodies: readonly [string, SampleName, object][] = [
  [
    'Embeddings',
    'sample_near',
    { input: ['How do I get my money back?', 'I want a refund', 'The lighthouse is white'] },
  ],
  [
    'Images',
    'sample_four',
    { prompt: 'A lighthouse in a storm, as a woodcut', n: 4, size: '1024x1024' },
  ],
  ['Video', 'sample_hd', { prompt: 'Waves at a lighthouse', seconds: 10, resolution: '1080p' }],
]

type Sample = Preset & { name: SampleName }

export const samplesFor = ({ title, isConversation }: Preset): Sample[] =>
  isConversation === true
    ? conversations.map(([name, conversation]) => ({
        ...{ name, title, isConversation, text: JSON.stringify(conversation) },
      }))
    : bodies.flatMap(([of, name, body]) =>
        of === title ? [{ name, title, text: JSON.stringify(body, null, 2) }] : [],
      )
