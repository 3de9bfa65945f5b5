// The four worked examples that the inventor of the scheme has published for signed headers.
import { expect, test } from 'bun:test'
import { encodePath, sha256Hex, signRequest } from './sign-request.ts'

const keys = {
  region: 'us-east-1',
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}
const atMs = Date.UTC(2013, 4, 24)
const base = 'https://examplebucket.s3.amazonaws.com'

const examples = [
  {
    name: 'a part of a file',
    method: 'GET',
    path: '/test.txt',
    headers: { range: 'bytes=0-9' },
    names: 'host;range;x-amz-content-sha256;x-amz-date',
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    name: 'a body, and a name with a sign in it',
    method: 'PUT',
    path: '/test$file.text',
    headers: {
      date: 'Fri, 24 May 2013 00:00:00 GMT',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    },
    body: 'Welcome to Amazon S3.',
    names: 'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
  {
    name: 'a query without a value',
    method: 'GET',
    path: '/?lifecycle',
    names: 'host;x-amz-content-sha256;x-amz-date',
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
  {
    name: 'a query in any order',
    method: 'GET',
    path: '/?prefix=J&max-keys=2',
    names: 'host;x-amz-content-sha256;x-amz-date',
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
]

test.each(examples)('signs $name as published', (example) => {
  const { method, path, headers, body = '', names, signature } = example
  const unsigned = { method, url: new URL(base + path), payloadHash: sha256Hex(body) }
  const sent = signRequest({ ...unsigned, ...(headers && { headers }) }, keys, atMs)
  expect(sent['authorization']).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
      `SignedHeaders=${names},Signature=${signature}`,
  )
  expect(sent).toMatchObject({ 'x-amz-date': '20130524T000000Z', ...headers })
  expect(sent['host']).toBeUndefined()
})

test('a path counts the same whether it came encoded or not', () => {
  for (const path of ["/a b/ü+(1)'*!.mp4", '/a%20b/%C3%BC%2B%281%29%27%2A%21.mp4']) {
    expect(encodePath(path)).toBe('/a%20b/%C3%BC%2B%281%29%27%2A%21.mp4')
  }
})
