// Objects of a schema through the AI SDK, by each of the functions that it has for them.
import { expect, test } from 'bun:test'
import { generateObject, generateText, Output, streamObject, streamText } from 'ai'
import type { Asking, Way } from './ai-ways.ts'
import { report } from './stage.ts'

export function describeObjects({ objects = [{}] }: Way, asking: Asking): void {
  test.each([...objects])('gives an object of a schema %j', async (more) => {
    const { providerOptions, ...asked } = asking()
    const call = {
      ...asked,
      providerOptions: { ...providerOptions, ...more },
      prompt: 'a report please',
    }
    const { object } = await generateObject({ ...call, schema: report })
    expect(object).toEqual(report.parse(object))
    const stream = streamObject({ ...call, schema: report })
    let last: unknown
    for await (const part of stream.partialObjectStream) last = part
    expect([last, await stream.object]).toEqual([object, object])
    const output = Output.object({ schema: report })
    expect((await generateText({ ...call, output })).output).toEqual(object)
    expect(await streamText({ ...call, output }).output).toEqual(object)
  })
}
