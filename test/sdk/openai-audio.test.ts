// Speech, transcriptions, translations and moderations with the official `openai` packages for Node and Python.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { toFile } from 'openai'
import { soundOf } from '../../sandbox/audio/encode.ts'
import { audioFormat, audioSeconds } from '../../src/lib/audio/measure.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { python } from '../support/python.ts'
import { ledgerOf } from '../support/read.ts'
import { packages } from './openai-client.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

const newest = async () => {
  const charge = (await ledgerOf(gateway)).find(({ kind }) => kind === 'charge')
  return [charge?.amount, charge?.unit, charge?.quantity]
}
const wav = () => toFile(soundOf('wav', 3).bytes, 'three.wav', { type: 'audio/wav' })

describe.each(packages)('%s', (_, sdk) => {
  const client = () =>
    new sdk.OpenAI({ apiKey: apiToken, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

  test('speaks a text', async () => {
    const answer = await client().audio.speech.create({
      model: 'ttsa-plus',
      voice: 'alloy',
      input: 'Good morning.',
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect([audioFormat(bytes), audioSeconds(bytes)! > 0.5]).toEqual(['mp3', true])
    expect(await newest()).toEqual(['-0.0013', 'character', 13])
  })

  test('writes down what is said, whole and as events', async () => {
    const model = 'asra-plus'
    const whole = await client().audio.transcriptions.create({ model, file: await wav() })
    expect(whole.text).toBe('The sandbox has heard 3.00 seconds of sound.')
    expect(await newest()).toEqual(['-0.0021', 'audio_second', 3])
    const verbose = await client().audio.transcriptions.create({
      model,
      file: await wav(),
      response_format: 'verbose_json',
      timestamp_granularities: ['segment'],
    })
    expect(Number(verbose.duration)).toBe(3)
    const subtitles: unknown = await client().audio.transcriptions.create({
      model,
      file: await wav(),
      response_format: 'srt',
    })
    expect(subtitles).toMatch(/^1\n00:00:00,000 --> 00:00:03,000\n/)
    const stream = await client().audio.transcriptions.create({
      model,
      file: await wav(),
      stream: true,
    })
    let text = ''
    for await (const event of stream) {
      if (event.type === 'transcript.text.delta') text += event.delta
      else
        expect([event.type, (event as { text: string }).text]).toEqual([
          'transcript.text.done',
          text,
        ])
    }
    expect(text).toBe(whole.text)
  })

  test('translates', async () => {
    const { text } = await client().audio.translations.create({
      model: 'asra-plus',
      file: await wav(),
    })
    expect(text).toContain('3.00 seconds')
  })

  test('judges texts and images', async () => {
    const { results } = await client().moderations.create({
      model: 'mdra-plus',
      input: [
        { type: 'text', text: 'violence' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      ],
    })
    expect(results.map(({ flagged, categories }) => [flagged, categories.violence])).toEqual([
      [true, true],
    ])
    expect(await newest()).toEqual(['0.00', 'free', 1])
  })

  test('learns what is wrong', async () => {
    const file = await toFile(Buffer.alloc(100_000), 'zeros.bin')
    const failure: unknown = await client()
      .audio.transcriptions.create({ model: 'asra-plus', file })
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ status: 400, param: 'file' })
  })
})

const program = `
import io, os, sys
from openai import OpenAI
client = OpenAI(api_key=os.environ["TOKEN"], base_url=os.environ["BASE"], max_retries=0)
sound = client.audio.speech.create(model="ttsa-plus", voice="alloy", input="Hello.", response_format="wav").read()
print(sound[:4].decode())
with client.audio.speech.with_streaming_response.create(model="ttsa-plus", voice="alloy", input="Hello.") as piece:
    print(sum(len(each) for each in piece.iter_bytes()) > 100)
named = lambda: ("hello.wav", io.BytesIO(sound))
print(client.audio.transcriptions.create(model="asra-plus", file=named()).text)
print(client.audio.transcriptions.create(model="asra-plus", file=named(), response_format="vtt")[:6])
print([event.type for event in client.audio.transcriptions.create(model="asra-plus", file=named(), stream=True)][-1])
print(client.audio.translations.create(model="asra-plus", file=named()).text)
print([each.flagged for each in client.moderations.create(model="mdra-plus", input=["nice", "hate"]).results])
`

test('the package for Python does the same', async () => {
  if (!python.has('openai')) return python.sayLeftOut('sound with the SDK for Python', 'openai')
  const child = Bun.spawn([python.program, '-W', 'ignore', '-c', program], {
    env: { ...process.env, TOKEN: apiToken, BASE: `${gateway.url}/v1` },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = [
    await new Response(child.stdout).text(),
    await new Response(child.stderr).text(),
  ]
  expect(err).toBe('')
  expect(out.trim().split('\n')).toEqual([
    'RIFF',
    'True',
    'The sandbox has heard 0.40 seconds of sound.',
    'WEBVTT',
    'transcript.text.done',
    'The sandbox has heard 0.40 seconds of sound.',
    '[False, True]',
  ])
})
