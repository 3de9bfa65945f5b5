// The generate interface as documents describe it. The parser decides; a test keeps the two together.
import {
  answered,
  type Content,
  inPath,
  inQuery,
  json,
  type Operation,
  rateNames,
  workRefusals,
} from '../../http/operation.ts'
import {
  anything,
  described,
  either,
  list,
  named,
  number,
  object,
  open,
  orNull,
  type Schema,
  text,
  whole,
  word,
} from '../../http/schema.ts'
import { streamError, tokenCount } from '../text/operations.ts'
import { count } from '../text/request-fields.ts'
import { maxRequests } from './parse-embed.ts'
import { maxCandidates } from './settings.ts'

const content = object(
  { 'role?': anything('`user` or `model`.'), 'parts?': anything('Texts, media and calls.') },
  open,
)
const contents = described(list(content), 'May be left out where there is a `systemInstruction`.')

const settings = object(
  {
    'maxOutputTokens?': count('Maximum tokens of one candidate.'),
    'candidateCount?': count('How many answers to make.', maxCandidates),
    'responseModalities?': orNull(
      list(text('Only `TEXT` has a price.', { pattern: '^[Tt][Ee][Xx][Tt]$' })),
    ),
    'thinkingConfig?': orNull(
      object(
        {
          'thinkingBudget?': orNull(
            whole(-1, Number.MAX_SAFE_INTEGER, 'Tokens of thoughts; -1: the model decides.'),
          ),
        },
        open,
      ),
    ),
  },
  open,
)

const conversation = {
  'contents?': orNull(contents),
  'systemInstruction?': anything('What the model is told beforehand.'),
  'tools?': anything('Functions the model may call; passed on.'),
}

const generateRequest = named(
  'GenerateRequest',
  object({ ...conversation, 'generationConfig?': orNull(settings) }, open),
)

const countRequest = named(
  'GenerateCountRequest',
  object({ ...conversation, 'generateContentRequest?': { type: 'null' } }, open),
)

const embedding = { content, 'taskType?': anything('Passed on.'), 'title?': anything('Passed on.') }
const embedRequest = named('EmbedRequest', object(embedding, open))
const batchRequest = named(
  'EmbedBatchRequest',
  object({ requests: list(object(embedding, open), { minItems: 1, maxItems: maxRequests }) }, open),
)

const usage = named(
  'GenerateUsage',
  object(
    {
      'promptTokenCount?': tokenCount('Input, cached tokens included.'),
      'cachedContentTokenCount?': tokenCount('Those of the input that hit a cache.'),
      'candidatesTokenCount?': tokenCount('Output without thoughts.'),
      'thoughtsTokenCount?': tokenCount('Thoughts.'),
      'totalTokenCount?': tokenCount('All.'),
    },
    open,
  ),
)

const answer = named(
  'GenerateAnswer',
  object(
    {
      'candidates?': list(
        object({ 'content?': content, 'finishReason?': text('Such as `STOP`.') }, open),
      ),
      'promptFeedback?': object({}, open),
      'usageMetadata?': usage,
      'modelVersion?': text(),
    },
    open,
  ),
)

const vector = object({ values: list(number()) }, open)

const hello = { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] }
const short = { ...hello, generationConfig: { maxOutputTokens: 64 } }
const embedded = { content: { parts: [{ text: 'first text' }] }, outputDimensionality: 8 }

const parameters = [
  inPath('version', text('Such as `v1beta`.')),
  inPath('model', text('Name of a model; see `GET /v1/models`.')),
]

function operation(
  method: string,
  of: Pick<Operation, 'id' | 'summary' | 'answers'> & {
    description?: string
    body: Readonly<Record<string, Content>>
    more?: Operation['parameters']
  },
): Operation {
  const { body, more = [], description = '', ...rest } = of
  return {
    ...rest,
    description: `${description} Also at \`/v1beta/models/{model}:${method}\`.`.trim(),
    method: 'post',
    path: `/vendorg/{version}/models/{model}:${method}`,
    routed: '/vendorg/:version/models/:call',
    tag: 'Text',
    credential: 'token',
    parameters: [...parameters, ...more],
    body: { content: body, required: true },
    refusals: workRefusals,
  }
}

const answeredWith = (schema: Schema, description: string) => [
  answered(schema, description, { headers: rateNames }),
]

export const generateOperations: readonly Operation[] = [
  operation('generateContent', {
    id: 'generateContent',
    summary: 'Answer in the generate style',
    description:
      'Every field may be written in camel case or with underscores. Fields that are not named here ' +
      'are passed on.',
    body: json(generateRequest, { text: short }),
    answers: answeredWith(answer, 'The answer.'),
  }),
  operation('streamGenerateContent', {
    id: 'streamGenerateContent',
    summary: 'Answer in the generate style, part by part',
    more: [inQuery('alt', word(['sse', 'json'], '`sse`: server-sent events; else a JSON list.'))],
    body: json(generateRequest, { text: short }),
    answers: [
      {
        status: 200,
        description: 'The answer in parts; the last one has a finish reason.',
        headers: rateNames,
        content: {
          ...json(list(either(answer, streamError()))),
          'text/event-stream': {
            schema: text('Server-sent events; each `data:` is JSON as described.'),
            events: { schema: either(answer, streamError()) },
          },
        },
      },
    ],
  }),
  operation('countTokens', {
    id: 'countGenerateTokens',
    summary: 'Count the input of a call in the generate style',
    description:
      'Asked of an upstream that can tell; else estimated and marked. Free of charge. The request ' +
      'may also be in `generateContentRequest`.',
    body: json(countRequest, { text: hello }),
    answers: [
      answered(object({ totalTokens: tokenCount('Of the whole input.') }), 'The count.', {
        headers: [...rateNames, 'x-gateway-estimated'],
      }),
    ],
  }),
  operation('embedContent', {
    id: 'embedContent',
    summary: 'Turn a content into a vector',
    body: json(embedRequest, { text: embedded }),
    answers: answeredWith(
      named('GeneratedEmbedding', object({ embedding: vector, 'usageMetadata?': usage }, open)),
      'The vector.',
    ),
  }),
  operation('batchEmbedContents', {
    id: 'batchEmbedContents',
    summary: 'Turn contents into vectors',
    body: json(batchRequest, { texts: { requests: [embedded, embedded] } }),
    answers: answeredWith(
      named(
        'GeneratedEmbeddings',
        object({ embeddings: list(vector), 'usageMetadata?': usage }, open),
      ),
      'One vector for each request.',
    ),
  }),
]
