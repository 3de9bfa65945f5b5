// Tools through the AI SDK, which runs them in a loop of its own.
import { expect, test } from 'bun:test'
import { generateText, isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'
import type { Asking, Way } from './ai-ways.ts'
import {
  expectLoop,
  type Over,
  type Stage,
  sealsOfLoop,
  toolLoops,
  weather,
  weatherIn,
} from './stage.ts'

export function describeTools(
  stage: Stage,
  { reasons = {}, keepsSeals }: Way,
  over: Over,
  asking: Asking,
): void {
  const asksForTools = (prompt: string) => {
    const cities: string[] = []
    const tools = {
      weather: tool({
        description: weather.description,
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => {
          cities.push(city)
          return weatherIn(city)
        },
      }),
    }
    const { providerOptions, ...call } = asking()
    const asked = {
      ...call,
      maxOutputTokens: 2_000,
      providerOptions: { ...providerOptions, ...(prompt === toolLoops[1] && reasons) },
      tools,
      stopWhen: isStepCount(4),
      prompt,
    }
    return { asked, cities }
  }

  const wanted = (loop: string) => sealsOfLoop(loop, over, keepsSeals(over))

  test.each([...toolLoops])('runs tools and answers with their results: %s', async (loop) => {
    const { asked, cities } = asksForTools(loop)
    const seals = await stage.countSeals(async () => {
      const { text, steps } = await generateText(asked)
      expectLoop(cities, text)
      const ends = steps.map(({ finishReason }) => finishReason)
      expect(ends).toEqual(['tool-calls', 'tool-calls', 'stop'])
    })
    expect(seals).toEqual(wanted(loop))
  })

  test.each([...toolLoops])('runs tools in streams: %s', async (loop) => {
    const { asked, cities } = asksForTools(loop)
    const seals = await stage.countSeals(async () => {
      const stream = streamText(asked)
      expectLoop(cities, await stream.text)
      expect(await stream.finishReason).toBe('stop')
    })
    expect(seals).toEqual(wanted(loop))
  })
}
