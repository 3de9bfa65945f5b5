// Estimates the cost of a call before it is sent; only for display.
export interface Priced {
  unit: string
  per_million?: string | { input: string; output: string }
  tiers?: { per_million: { input: string; output: string } }[]
  per_image?: string | Record<string, string>
  per_second?: Record<string, string>
  per_search?: string
}

const lettersPerToken = 4
const assumedOutput = 200

export function estimateFor(price: Priced | undefined, text: string): string | undefined {
  if (price === undefined) return undefined
  let body: Record<string, unknown>
  try {
    body = JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
  const amount = amountOf(price, body, text)
  return amount === undefined || Number.isNaN(amount) ? undefined : amount.toFixed(9)
}

function amountOf(price: Priced, body: Record<string, unknown>, text: string): number | undefined {
  const number = (...names: string[]) => {
    const found = names.map((name) => body[name]).find((value) => typeof value === 'number')
    return found as number | undefined
  }
  switch (price.unit) {
    case 'token': {
      const rates = price.tiers?.[0]?.per_million ?? price.per_million
      if (typeof rates !== 'object') return undefined
      const output = number('max_tokens', 'max_output_tokens', 'max_completion_tokens')
      const input = text.length / lettersPerToken
      return (input * Number(rates.input) + (output ?? assumedOutput) * Number(rates.output)) / 1e6
    }
    case 'image': {
      const each =
        typeof price.per_image === 'object' ? Object.values(price.per_image)[0] : price.per_image
      return Number(each) * (number('n') ?? 1)
    }
    case 'video_second': {
      const parameters = (body['parameters'] ?? {}) as Record<string, unknown>
      const seconds = number('seconds', 'duration') ?? Number(parameters['durationSeconds'] ?? 5)
      const tier = String(body['resolution'] ?? parameters['resolution'] ?? '1080p')
      return seconds * Number(price.per_second?.[tier])
    }
    case 'search':
      return Number(price.per_search)
    case 'character': {
      const { input } = body
      return typeof input === 'string' && typeof price.per_million === 'string'
        ? (input.length * Number(price.per_million)) / 1e6
        : undefined
    }
    default:
      return undefined
  }
}
