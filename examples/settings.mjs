// What every example needs: the gateway's address and a token.

export function needed() {
  const { GATEWAY_URL, GATEWAY_TOKEN, GATEWAY_MODEL } = process.env
  if (!GATEWAY_TOKEN) {
    console.error('set GATEWAY_TOKEN to an API token; the first start of the gateway prints one')
    process.exit(64)
  }
  return {
    url: (GATEWAY_URL || 'http://localhost:8080').replace(/\/+$/, ''),
    token: GATEWAY_TOKEN,
    model: GATEWAY_MODEL || 'txta-plus',
  }
}
