// Hands bytes or a text to the browser as a file to download.
export function downloadBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob)
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  // Some browsers read it only after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

export const downloadText = (name: string, text: string, type = 'application/yaml'): void =>
  downloadBlob(name, new Blob([text], { type }))
