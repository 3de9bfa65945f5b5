// What a body must look like is told twice: by the parser that reads it, written for speed, and by the
// schema in the document. Here both judge the same bodies, right, odd and wrong ones. What a parser
// takes always fits its schema; what fits and is refused all the same is refused for a reason that no
// schema can tell, and those are listed.

import { describe, expect, test } from 'bun:test'
import { batchEndpoints } from '../../src/contract/batches/index.ts'
import { Refusal } from '../../src/contract/errors.ts'
import { createCallerApi } from '../../src/engine/caller-api.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { newRequestContext } from '../../src/http/request-context.ts'
import { dataDocument } from '../../src/openapi/documents.ts'
import { parseNative } from '../../src/surfaces/arkvendor/parse.ts'
import { parseBatch as parseBatchOfCalls } from '../../src/surfaces/batches/create.ts'
import { parseChat } from '../../src/surfaces/chat/parse.ts'
import { parseEmbeddings } from '../../src/surfaces/embeddings/parse.ts'
import {
  parseGenerate,
  parseCount as parseGenerateCount,
} from '../../src/surfaces/generate/parse.ts'
import { parseBatch, parseEmbed } from '../../src/surfaces/generate/parse-embed.ts'
import { parseEdit, parseGeneration } from '../../src/surfaces/images/parse.ts'
import { parseImageTask } from '../../src/surfaces/imgvendor/parse.ts'
import { withCallback } from '../../src/surfaces/media/callback.ts'
import { parseCount, parseMessages } from '../../src/surfaces/messages/parse.ts'
import { parseModerations } from '../../src/surfaces/moderations/parse.ts'
import { parseRerank } from '../../src/surfaces/rerank/parse.ts'
import { parseCount as countResponse, parseResponses } from '../../src/surfaces/responses/parse.ts'
import { parseSpeech } from '../../src/surfaces/speech/parse.ts'
import { checkedFields } from '../../src/surfaces/text/extra-fields.ts'
import { parseOperation } from '../../src/surfaces/vendorg/parse.ts'
import { parseVideo } from '../../src/surfaces/videos/parse.ts'
import { type Call, describedBy, type Json } from '../support/openapi/openapi.ts'
import { bent, Chance, fitting, type Pins } from '../support/openapi/schema-values.ts'
import { testSeed } from '../support/seeded.ts'

const described = describedBy(JSON.parse(JSON.stringify(await dataDocument('http://localhost'))))
const seed = testSeed()
const bodies = 1_500

interface Row {
  call: string
  parse: (fields: Json) => unknown
  /** `code param` of refusals that depend on more than one field, or on what an address is. */
  beyond: RegExp
  pins?: Pins
}

const body = (fields: Json) => ({ text: JSON.stringify(fields), fields })
const nobody = { ip: () => undefined, keepOpen: () => {} }
const x = newRequestContext(new Request('http://localhost/'), nobody)
// All that is asked of it is where callbacks may go.
const api = createCallerApi({ egressAllow: [] } as unknown as Engine)
const told = <Call extends object>(fields: Json, call: Call | Refusal) =>
  withCallback(api, fields, call)
const never = /(?!)/
const address = [
  'https://example.com/a.png',
  'https://example.com/a.mp4',
  'data:image/png;base64,aGk=',
  'http://[bad',
  'ftp://example.com/a.png',
]
const videoModels = ['vfb-1.1-t2v', 'vfb-1.1-i2v', 'vfa-2.7-i2v', 'vfa-2.7-r2v', 'house-video']
const callbacks = ['https://callbacks.example/x', 'http://127.0.0.1/x', 'no address', '']
const uris = { uri: address, url: address, image_url: address, video_url: address }

/** What has no price or lives at the upstream: the documents say so in words. */
const extras = new RegExp(
  `^(?:invalid_request (?:tools(?:\\[\\d+\\])?\\.\\S*|${checkedFields.join('|')})|not_found \\S+)$`,
)

/** The same, and neither an input nor what stands in for it. */
const noInput = new RegExp(`${extras.source}|^invalid_request (?:input|messages)$`)
/** Nor can a response be made in the background as a stream, or without being kept. */
const noResponse = new RegExp(`${noInput.source}|^invalid_request (?:stream|store|background)$`)

/** The same, and another model than that of the path. */
const generateExtras = new RegExp(
  `^(?:invalid_request (?:tools(?:\\[\\d+\\])?\\.\\S*|(?:requests\\[\\d+\\]\\.)?model|${checkedFields.join('|')})|not_found \\S+)$`,
)

/** The same, and neither contents nor an instruction. */
const noContents = new RegExp(`${generateExtras.source}|^invalid_request contents$`)

const rows: readonly Row[] = [
  {
    call: 'createChatCompletion',
    parse: (fields) => parseChat(body(fields)),
    // Which items of the responses style there are.
    beyond: new RegExp(`${extras.source}|^invalid_request input`),
  },
  { call: 'createResponse', parse: (fields) => parseResponses(body(fields)), beyond: noResponse },
  {
    call: 'countResponseTokens',
    parse: (fields) => countResponse(body(fields)),
    beyond: noResponse,
  },
  { call: 'createMessage', parse: (fields) => parseMessages(body(fields), x), beyond: extras },
  { call: 'countMessageTokens', parse: (fields) => parseCount(body(fields), x), beyond: extras },
  {
    call: 'createBatch',
    parse: (fields) => parseBatchOfCalls(fields),
    // Names of metadata are bounded, too.
    beyond: /^invalid_request metadata$/,
    pins: { endpoint: [...batchEndpoints], completion_window: ['24h'] },
  },
  { call: 'createEmbeddings', parse: (fields) => parseEmbeddings(body(fields)), beyond: never },
  {
    call: 'rerankDocuments',
    parse: (fields) => parseRerank(body(fields)),
    // White space alone is no query.
    beyond: /^invalid_request query$/,
  },
  { call: 'createModeration', parse: (fields) => parseModerations(body(fields)), beyond: never },
  { call: 'createSpeech', parse: (fields) => parseSpeech(body(fields)), beyond: never },
  {
    call: 'generateContent',
    parse: (fields) => parseGenerate(body(fields), 'txta-plus', false),
    beyond: noContents,
  },
  {
    call: 'streamGenerateContent',
    parse: (fields) => parseGenerate(body(fields), 'txta-plus', true),
    beyond: noContents,
  },
  {
    call: 'countGenerateTokens',
    parse: (fields) => parseGenerateCount(body(fields), 'txta-plus'),
    beyond: noContents,
  },
  {
    call: 'embedContent',
    parse: (fields) => parseEmbed(body(fields), 'txta-embed'),
    beyond: generateExtras,
  },
  {
    call: 'batchEmbedContents',
    parse: (fields) => parseBatch(body(fields), 'txta-embed'),
    beyond: generateExtras,
  },
  {
    call: 'createImages',
    parse: (fields) => parseGeneration(fields, false),
    // Each side has bounds of its own.
    beyond: /^invalid_request size$/,
    pins: { size: ['64x64', '63x64', '4096x4097', 'auto', '1024x1024', '1x1'] },
  },
  {
    call: 'editImages',
    parse: (fields) => parseEdit(fields, false),
    // Of both fields together one to three; and what is no address after all.
    beyond: /^(?:invalid_request (?:size|images?)|too_many_images images?)$/,
    pins: { size: ['64x64', 'auto'], ...uris },
  },
  {
    call: 'createImageTask',
    parse: (fields) => parseImageTask(fields, 'generations').then((call) => told(fields, call)),
    beyond:
      /^(?:model_not_supported model_name|invalid_request (?:model|callback_url|external_task_id|image|image_reference|negative_prompt|element_list)|too_many_images element_list)$/,
    pins: {
      model_name: ['imgvendor-v1', 'imgvendor-v1-5', 'imgvendor-v3', 'imgvendor-v3-omni'],
      image: [...address, 'aGk=', 'no base64!', ''],
      callback_url: callbacks,
    },
  },
  {
    call: 'createOmniImageTask',
    parse: (fields) => parseImageTask(fields, 'omni-image').then((call) => told(fields, call)),
    beyond:
      /^(?:model_not_supported model_name|invalid_resolution resolution|invalid_request (?:model|callback_url|external_task_id|image_list|result_type)|too_many_images element_list)$/,
    pins: {
      model_name: ['imgvendor-v3-omni', 'imgvendor-image-o1', 'imgvendor-v1'],
      image: [...address, 'aGk=', 'no base64!', ''],
      callback_url: callbacks,
    },
  },
  {
    call: 'createVideo',
    parse: (fields) => parseVideo(fields),
    beyond:
      /^(?:invalid_request (?:prompt|input_reference|input_image|references\.video)|invalid_duration seconds|invalid_resolution size|too_many_images (?:input_reference|input_image))$/,
    pins: {
      ...uris,
      model: videoModels,
      seconds: [2, 3, 5, 15, 16, '2', '15', '016', null],
      size: ['1280x720', '1080x1920', '10x10', null],
      input_image: address,
      input_reference: [...address, { image_url: address[0] }, { video_url: address[1] }],
    },
  },
  {
    call: 'createLongRunningVideo',
    parse: (fields) => parseOperation(fields),
    // Given twice, a last frame without a first, two ways at once, or no address after all.
    beyond: /^invalid_request (?:instances\[0\]|parameters)\.(?:image|lastFrame|referenceImages)/,
    pins: uris,
  },
  {
    call: 'createNativeVideoTask',
    parse: (fields) => parseNative(fields).then((call) => told(fields, call)),
    beyond: /^invalid_request (?:content|callback_url)$/,
    pins: { model: ['vidmodel-1-0-pro'], text: ['a boat', ' ', ''], callback_url: callbacks },
  },
]

/** Parsers are only ever handed objects; what else comes is refused before. */
function bodyFor(chance: Chance, call: Call, pins: Pins): Json {
  const content = (call.operation['requestBody'] as Json)['content'] as Record<string, Json>
  const schema = content['application/json']!['schema'] as Json
  const making = { chance, resolve: described.resolve, pins }
  const right = fitting(making, schema)
  const value = chance.is(0.5) ? right : bent(chance, chance.is(0.3) ? bent(chance, right) : right)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (JSON.parse(JSON.stringify(value)) as Json) : (right as Json)
}

describe('the parser and the schema say the same of', () => {
  test.each(rows)('$call', async ({ call: id, parse, beyond, pins = {} }) => {
    const call = described.calls.find((each) => each.id === id)!
    const counts = { both: 0, neither: 0, beyond: 0 }
    for (let i = 0; i < bodies; i++) {
      const given = bodyFor(new Chance(seed * 7 + i), call, pins)
      const parsed = await parse(given)
      const fits = described.fits(call, given)
      const refused = parsed instanceof Refusal
      const told = { seed, i, given: JSON.stringify(given).slice(0, 600) }
      if (!refused) {
        counts.both++
        expect({ ...told, fits }).toEqual({ ...told, fits: true })
      } else if (fits) {
        counts.beyond++
        const why = `${parsed.code} ${parsed.extras.param}`
        const known = beyond.test(why)
        expect({ ...told, why, known }).toEqual({ ...told, why, known: true })
      } else counts.neither++
    }
    // Bodies of every kind were there.
    expect(counts.both).toBeGreaterThan(bodies / 20)
    expect(counts.neither).toBeGreaterThan(bodies / 20)
  })
})

/** Bodies that one of them took and the other refused, once. */
const disagreed: readonly [call: string, given: Json][] = [
  ['createOmniImageTask', { prompt: 'a cat', element_list: [{ element_id: 1e308 }] }],
  ['createImageTask', { prompt: 'a cat', element_list: [{ element_id: 2 ** 53 }] }],
]

test.each(disagreed)('%s refuses, and describes as wrong, %j', async (id, given) => {
  const call = described.calls.find((each) => each.id === id)!
  const { parse } = rows.find((row) => row.call === id)!
  expect(await parse(given)).toBeInstanceOf(Refusal)
  expect(described.fits(call, given)).toBe(false)
})

test('every call with a body of JSON is judged here', () => {
  const taken = described.calls.filter(({ operation: { requestBody } }) => {
    const content = (requestBody as Json | undefined)?.['content'] as Json | undefined
    return content?.['application/json'] !== undefined
  })
  expect(rows.map(({ call }) => call).toSorted()).toEqual(taken.map(({ id }) => id).toSorted())
})
