// What protocols that follow the chat interface have in common: path, key, user, ids and errors.
import { bearerKey, plainUser, type SimulatedProtocol } from '../protocol.ts'
import { errorBody } from './error-object.ts'

export const plainProtocol = {
  basePath: '/v1',
  delaySlows: 'answer',
  keepsRequests: true,
  idHeaders: ['x-request-id'],
  readKey: bearerKey,
  readUser: plainUser,
  errorBody,
} as const satisfies Partial<SimulatedProtocol>

export const plainErrorEvent: NonNullable<SimulatedProtocol['errorEvent']> = (fault) =>
  `data: ${JSON.stringify(errorBody(fault))}\n\n`
