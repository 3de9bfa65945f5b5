// A certificate of the bench's own for upstreams over TLS: key.pem and cert.pem, for localhost and
// 127.0.0.1. It is its own authority, so those who trust it get cert.pem.

import { join } from 'node:path'

export function makeCertificate(dir: string): { certFile: string } {
  const certFile = join(dir, 'cert.pem')
  const { success, stderr } = Bun.spawnSync([
    ...['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
    ...['-nodes', '-days', '2', '-subj', '/CN=bench'],
    ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ...['-keyout', join(dir, 'key.pem'), '-out', certFile],
  ])
  if (!success) throw new Error(`openssl could not make a certificate: ${stderr}`)
  return { certFile }
}
