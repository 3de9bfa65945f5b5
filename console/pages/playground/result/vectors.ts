// Vectors of an answer: their length, and how alike two of them are. Pure.
type Vector = readonly number[]

export const norm = (vector: Vector): number => Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0))

/** Nothing is like a vector without length. */
export const cosine = (a: Vector, b: Vector): number =>
  a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0) / (norm(a) * norm(b) || 1)

/** As numbers, or as the bytes of 32-bit floats in Base64. */
export function vectorsIn(body: unknown): Vector[] {
  const { data } = (body ?? {}) as { data?: unknown }
  if (!Array.isArray(data)) return []
  return data.map((each: unknown) => {
    const { embedding } = (each ?? {}) as { embedding?: unknown }
    if (Array.isArray(embedding)) return embedding.map(Number)
    return typeof embedding === 'string' ? floatsIn(embedding) : []
  })
}

function floatsIn(code: string): Vector {
  try {
    const bytes = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0))
    const view = new DataView(bytes.buffer)
    return Array.from({ length: Math.floor(bytes.length / 4) }, (_, i) =>
      view.getFloat32(4 * i, true),
    )
  } catch {
    return []
  }
}

/** What each vector is of, as far as it is text. */
export function inputsIn(sent: unknown): (string | undefined)[] {
  const { input } = (sent ?? {}) as { input?: unknown }
  const all = Array.isArray(input) ? (input as unknown[]) : [input]
  return all.map((each) => (typeof each === 'string' ? each : undefined))
}
