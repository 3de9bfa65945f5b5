// Throw-away identities that protect nothing; fixed, because an expired one is hard to make.

export interface Identity {
  key: string
  cert: string
}

function identity(key: string, cert: string): Identity {
  return { key: pem('PRIVATE KEY', key), cert: pem('CERTIFICATE', cert) }
}

function pem(label: string, base64: string): string {
  return `-----BEGIN ${label}-----\n${base64}\n-----END ${label}-----\n`
}

/** For localhost and 127.0.0.1, for a hundred years; its own authority, as the others are. */
export const local = identity(
  `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVzJJFvkIH8Csi4oy
uTNiUvC7O6dFINTcjOWs6qw7o4ChRANCAAS+nuHngp3X94FnTeo5N8RKZgvJK3I3
ezV8cUTU9gqpxpEdK2bkukWHaKQL5h1WPk/sMp9geYJYrTgMLlc+FP4i`,
  `MIIBlDCCATmgAwIBAgIUQpAmS5oWBR2SMdGyxtI5zFmJ9HMwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFbG9jYWwwIBcNMjYxMTE1MDYxOTM3WhgPMjEyNjEwMjIwNjE5
MzdaMBAxDjAMBgNVBAMMBWxvY2FsMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
vp7h54Kd1/eBZ03qOTfESmYLyStyN3s1fHFE1PYKqcaRHStm5LpFh2ikC+YdVj5P
7DKfYHmCWK04DC5XPhT+IqNvMG0wHQYDVR0OBBYEFDd/sLSZPZ+SjhL0S6tA7Pk9
3+DoMB8GA1UdIwQYMBaAFDd/sLSZPZ+SjhL0S6tA7Pk93+DoMA8GA1UdEwEB/wQF
MAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMAoGCCqGSM49BAMCA0kA
MEYCIQDpgNe7mIpNF0j8sLqDRPL3PqMKoO4AtJ8pYxnMMmdhVgIhAKFB8l4IQBQ1
4a6d+ZdKmU6wYfCE5L43lk8RF4LiNPEG`,
)

/** For elsewhere.example, for a hundred years. */
export const foreign = identity(
  `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAPlGTYHyeOwFFFAs
AOBoB3WSA+GCsJJhaxG/njXaDfGhRANCAAR0r3G+Xu9TA9CkFKNZnC5ls/rALwSq
P+IOPHO4NYQi+NyD3IeVf3Q79eNQeisYOsPFixwffLB3kQa/6O2Qoj24`,
  `MIIBmTCCAT+gAwIBAgIUZBJ8nTA17h+VZ69zY1eHUpb72wswCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHZm9yZWlnbjAgFw0yNjExMTUwNjE5MzdaGA8yMTI2MTAyMjA2
MTkzN1owEjEQMA4GA1UEAwwHZm9yZWlnbjBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABHSvcb5e71MD0KQUo1mcLmWz+sAvBKo/4g48c7g1hCL43IPch5V/dDv141B6
Kxg6w8WLHB98sHeRBr/o7ZCiPbijcTBvMB0GA1UdDgQWBBTRIrcqMJGwkizTK+oY
CDmvJd3jKTAfBgNVHSMEGDAWgBTRIrcqMJGwkizTK+oYCDmvJd3jKTAPBgNVHRMB
Af8EBTADAQH/MBwGA1UdEQQVMBOCEWVsc2V3aGVyZS5leGFtcGxlMAoGCCqGSM49
BAMCA0gAMEUCIQCJ830h9FJRKLh1erVV7CAPGD/Px4IgJSr+SXebN18BAQIgWDYh
HI1ddml87MaKdgUEnJRGWrKcrQ9sXwNXCjxfHuU=`,
)

/** For localhost, in January 2020. */
export const expired = identity(
  `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNuQiM1yzb7teKxR5
zRIBtgv7z+uGn/KSmB5ODoDXVb2hRANCAAQQh3Vp/Plh0dtpnImV/yMMykjqTDsz
tQgiy52uXb7hsl5OYrjgud0aDtkAd1rDrPzOFdRP3tqXIv9MpXqEoM/H`,
  `MIIBeTCCAR+gAwIBAgIBATAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdleHBpcmVk
MB4XDTIwMDEwMTAwMDAwMFoXDTIwMDIwMTAwMDAwMFowEjEQMA4GA1UEAwwHZXhw
aXJlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBCHdWn8+WHR22mciZX/IwzK
SOpMOzO1CCLLna5dvuGyXk5iuOC53RoO2QB3WsOs/M4V1E/e2pci/0yleoSgz8ej
ZjBkMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAMBgNVHRMEBTADAQH/MB0GA1UdDgQW
BBSlpbLpNArFcG0S2N93y82jbNFVBTAfBgNVHSMEGDAWgBSlpbLpNArFcG0S2N93
y82jbNFVBTAKBggqhkjOPQQDAgNIADBFAiB1qry8rM/pw0yQwIc0ptMOKcc7Efg2
0sbxQhxFZf60OQIhAOEL1wP+k40yJ0UG6Znc4/xY7fDEBSBJz04rvlM2HqmM`,
)

/** For localhost and 127.0.0.1 too, and nobody vouches for it. */
export const unknown = identity(
  `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQga0F6KS0qqzgPiWDY
mlwe0f87OnCWosyIDpqr/+MUaMqhRANCAAQcDqdZ7qrPg3Qs7reE/2jH3+ipic9f
82rU7bQe+El+rNGE4h8f5+YuJlkW3B5VwVnx/eNnSey39UxrSgQhTjQB`,
  `MIIBlzCCAT2gAwIBAgIUPNNCpG7n0QnMV/kHh3//rSK7EFQwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHdW5rbm93bjAgFw0yNjExMTUwNzUyMzVaGA8yMTI2MTAyMjA3
NTIzNVowEjEQMA4GA1UEAwwHdW5rbm93bjBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABBwOp1nuqs+DdCzut4T/aMff6KmJz1/zatTttB74SX6s0YTiHx/n5i4mWRbc
HlXBWfH942dJ7Lf1TGtKBCFONAGjbzBtMB0GA1UdDgQWBBTybzaFIOh5Wl3Thd9I
cOHMcvfgtjAfBgNVHSMEGDAWgBTybzaFIOh5Wl3Thd9IcOHMcvfgtjAPBgNVHRMB
Af8EBTADAQH/MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAKBggqhkjOPQQD
AgNIADBFAiAJPoTL35YIvjRfHTFmYepL5UQ6RuHPviNiKLAVYoFguAIhAPL4UY9P
WXdp4uoX270HI4/ff6eG0EmiqGObxhzUSnzF`,
)

/** Whom the gateway of the tests trusts besides the usual authorities. */
export const trusted = [local, foreign, expired].map(({ cert }) => cert).join('')
