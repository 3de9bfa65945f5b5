// The tools of both agents. An error that a tool throws becomes its result, for the model to read.

export const tools = {
  weather: {
    description: 'The weather in a city, now.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    },
    run: ({ city }) => ({ city, degrees: 21, sky: 'clear' }),
  },
}

/** Always text, never an exception. */
export async function runTool(name, input) {
  try {
    const tool = tools[name]
    if (tool === undefined) throw new Error(`there is no tool ${name}`)
    return JSON.stringify(await tool.run(input))
  } catch (error) {
    return JSON.stringify({ error: error.message })
  }
}
