// Reads a body into text without ever holding more than a limit.

/** Undefined when the body is larger than `maxBytes`; rejects when it breaks off. */
export function readText(message: Request, maxBytes: number): Promise<string | undefined> {
  const declared = message.headers.get('content-length')
  // A plain body of declared length cannot grow; a compressed or chunked one can.
  if (declared === null || message.headers.get('content-encoding') !== null) {
    return readGrowing(message, maxBytes)
  }
  return Number(declared) <= maxBytes ? message.text() : Promise.resolve(undefined)
}

async function readGrowing(message: Request, maxBytes: number): Promise<string | undefined> {
  if (message.body === null) return ''
  const decoder = new TextDecoder()
  let size = 0
  let text = ''
  for await (const chunk of message.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > maxBytes) return undefined
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
