// Sample requests that show what an interface can do.
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
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const { name, description, schema } = weather
const asked = (content: string) => [{ role: 'user', content }]
const question = 'What is the weather in Paris?'
const story = 'Tell a story about a lighthouse and a storm, in five paragraphs.'
const list = 'Name three rivers as JSON: {"rivers": []}'

const bodies: readonly [string, SampleName, object][] = [
  [
    'Chat',
    'sample_tool',
    {
      messages: asked(question),
      tools: [{ type: 'function', function: { name, description, parameters: schema } }],
      stream: true,
      max_tokens: 200,
    },
  ],
  [
    'Chat',
    'sample_json',
    { messages: asked(list), response_format: { type: 'json_object' }, max_tokens: 200 },
  ],
  ['Chat', 'sample_long', { messages: asked(story), stream: true, max_tokens: 1_000 }],
  [
    'Responses',
    'sample_tool',
    {
      input: question,
      tools: [{ type: 'function', name, description, parameters: schema }],
      stream: true,
      max_output_tokens: 200,
    },
  ],
  ['Responses', 'sample_long', { input: story, stream: true, max_output_tokens: 1_000 }],
  [
    'Messages',
    'sample_tool',
    {
      messages: asked(question),
      tools: [{ name, description, input_schema: schema }],
      stream: true,
      max_tokens: 200,
    },
  ],
  ['Messages', 'sample_long', { messages: asked(story), stream: true, max_tokens: 1_000 }],
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

export const samplesFor = (title: string): (Preset & { name: SampleName })[] =>
  bodies.flatMap(([of, each, body]) =>
    of === title ? [{ name: each, title, text: JSON.stringify(body, null, 2) }] : [],
  )
