// The images protocol as an upstream speaks it: images drawn or edited while the caller waits, as
// addresses or as their bytes.

import { isFault } from '../http/fields.ts'
import { drawImage } from '../media/image.ts'
import { addressesOf, imagesOf } from '../media/image-request.ts'
import {
  type Answer,
  bearerKey,
  type Call,
  jsonAnswer,
  type ProtocolMaker,
  plainUser,
} from '../protocol.ts'
import { failureOf } from '../text/answer-text.ts'
import { errorBody } from '../text/error-object.ts'
import { countTokens } from '../text/tokens.ts'
import { type ImagesRequest, readImagesRequest } from './request.ts'

/** What an image counts as, going in or coming out. */
const tokensPerImage = 258

export const images: ProtocolMaker = ({ now }) => ({
  protocol: 'images',
  basePath: '/v1',
  delaySlows: 'answer',
  idHeaders: ['x-request-id'],
  readKey: bearerKey,
  readUser: plainUser,
  errorBody,
  routes: [
    {
      method: 'POST',
      path: /^\/v1\/images\/generations$/,
      answer: (call) => answer(call, false, now()),
    },
    {
      method: 'POST',
      path: /^\/v1\/images\/edits$/,
      takesForms: true,
      answer: (call) => answer(call, true, now()),
    },
  ],
})

function answer({ fields, directives, origin }: Call, isEdit: boolean, madeMs: number): Answer {
  const request = readImagesRequest(fields, isEdit)
  if (isFault(request)) return { kind: 'fault', fault: request }
  const fault = failureOf(directives)
  if (fault !== undefined) return { kind: 'fault', fault }
  const data = request.base64
    ? imagesOf(request.images, directives).map((one) => ({
        b64_json: base64Of(drawImage(one)),
      }))
    : addressesOf(request.images, directives, { origin, madeMs }).map((url) => ({ url }))
  const usage = usageOf(request, data.length)
  const created = Math.floor(madeMs / 1000)
  const body = { created, data, ...(!directives.noUsage && { usage }) }
  const { input_tokens: promptTokens, output_tokens: completionTokens } = usage
  return jsonAnswer(body, { promptTokens, completionTokens, images: data.length })
}

const base64Of = (bytes: Uint8Array<ArrayBuffer>): string => Buffer.from(bytes).toString('base64')

function usageOf({ prompt, images: { source } }: ImagesRequest, made: number) {
  const details = {
    text_tokens: countTokens(prompt),
    image_tokens: (source?.count ?? 0) * tokensPerImage,
  }
  const input = details.text_tokens + details.image_tokens
  const output = made * tokensPerImage
  return {
    input_tokens: input,
    input_tokens_details: details,
    output_tokens: output,
    total_tokens: input + output,
  }
}
