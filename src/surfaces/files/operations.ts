// Links to finished files as documents describe them.
import { inPath, inQuery, type Operation } from '../../http/operation.ts'
import { text } from '../../http/schema.ts'
import { downloadAnswers, downloadRefusals, rangeHeaders } from '../media/operations.ts'

export const filesOperations: readonly Operation[] = [
  {
    id: 'getFile',
    method: 'get',
    path: '/files/{id}/{part}',
    tag: 'Files',
    summary: 'Fetch a finished file by its link',
    description: 'Links stand in answers. They are signed and end; no token is asked for.',
    credential: 'none',
    parameters: [
      inPath('id', text('Name of the task.')),
      inPath('part', text('Which of its files.', { pattern: '^(?:0|[1-9]\\d{0,3})$' })),
      { ...inQuery('until', text('When the link ends.')), required: true },
      { ...inQuery('sig', text('The signature.')), required: true },
      ...rangeHeaders,
    ],
    answers: downloadAnswers(['video/mp4', 'image/png', 'image/jpeg', 'image/webp']),
    refusals: [...downloadRefusals, 'file_not_found'],
  },
]
