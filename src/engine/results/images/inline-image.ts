// Images that an upstream has put into its answer: `data:image/png;base64,…`.

export const isInline = (url: string): boolean => url.startsWith('data:')

/** Where the Base64 of such an address begins; undefined when it has none. */
export function startOfBase64(url: string): number | undefined {
  const comma = url.indexOf(',')
  return comma !== -1 && /;base64$/i.test(url.slice(0, comma)) ? comma + 1 : undefined
}
