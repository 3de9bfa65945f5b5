// The sandbox's own videos and images as documents tell of them.
import { inPath, inQuery, type Operation } from '../../http/operation.ts'
import { text } from '../../http/schema.ts'
import { downloadAnswers, downloadRefusals, rangeHeaders } from '../media/operations.ts'

export const sandboxOperations: readonly Operation[] = [
  {
    id: 'getSandboxFile',
    method: 'get',
    path: '/sandbox/media/{name}',
    tag: 'Files',
    summary: 'Fetch what the built-in sandbox made',
    credential: 'none',
    parameters: [
      inPath('name', text('Name of the file.')),
      inQuery('Expires', text('When the address ends.')),
      inQuery('Signature', text('Its signature.')),
      ...rangeHeaders,
    ],
    answers: downloadAnswers(['video/mp4', 'image/png']),
    refusals: [...downloadRefusals, 'not_found'],
  },
]
