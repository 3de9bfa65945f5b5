// The engine as surfaces see it: one object over the functions that do the work. All work for a
// caller goes through here; ledger, store and sealed secrets stay behind it.
import type { BatchApi } from '../contract/batches/index.ts'
import type { CallerApi, CallerModels } from '../contract/caller-api.ts'
import { interfaceRows } from '../contract/config-schema/names.ts'
import { Refusal } from '../contract/errors.ts'
import { matches } from '../lib/text/pattern.ts'
import { listBatches } from '../store/batches/batches.ts'
import { listFiles } from '../store/batches/files.ts'
import { authenticate } from './admission/authenticate.ts'
import { withEndUser } from './admission/end-user.ts'
import { hiddenModel } from './admission/hidden-model.ts'
import { turnedAway } from './admission/refused-callers.ts'
import { recordRefused } from './admission/refused-requests.ts'
import { cancelBatch, readBatch } from './batches/batches.ts'
import { createBatch } from './batches/create-batch.ts'
import { deleteFile, dropFile, keepFile, openFile, readFile, receiveFile } from './batches/files.ts'
import {
  begunMonth,
  listOwnMonths,
  openOwnBillFile,
  reportUsage,
  showOwnBill,
} from './books/usage-report.ts'
import { callbackIn } from './callbacks/callback-url.ts'
import { newRecord, recordUnbilled } from './calls/call-record.ts'
import { countInput } from './calls/count-input.ts'
import { notifyEmpty, runText } from './calls/run-text.ts'
import type { Engine } from './engine.ts'
import { followLink, linksOf } from './results/file-links.ts'
import { fetchImages } from './results/images/fetch-images.ts'
import { makeImages } from './results/images/make-images.ts'
import { openContent } from './results/open-content.ts'
import { openSandboxMedia } from './results/sandbox-media.ts'
import { cancelResponse, deleteResponse, readResponse, startResponse } from './tasks/background.ts'
import { cancelVideo, hideTask } from './tasks/cancel-task.ts'
import { createTask } from './tasks/create/create-task.ts'
import { findTask, isOwnVideo, listVideos, searchImages, searchVideos } from './tasks/read-task.ts'
import { asVideoRequest } from './tasks/task-charge.ts'

export const createCallerApi = (engine: Engine): CallerApi => ({
  get currency() {
    return engine.declared.file.currency
  },
  get publicUrl() {
    return engine.publicUrl
  },
  nowMs: () => engine.clock.nowMs(),
  models: modelsOf(engine),
  ...callsOf(engine),
  ...tasksOf(engine),
  ...filesOf(engine),
  ...accountOf(engine),
  ...batchesOf(engine),
})

const callsOf = (engine: Engine) =>
  ({
    authenticate(request, credential) {
      const token =
        credential instanceof Refusal
          ? credential
          : authenticate(engine, credential, request.connection)
      return token instanceof Refusal ? notAuthenticated(engine, request, token) : token
    },
    refusalBeforeBody: (token, mayBeFree) => turnedAway(engine, token, mayBeFree),
    withEndUser: (token, tags, fields) => withEndUser(engine, token, tags, fields),
    refuseCall: (context, surface, model, refusal) =>
      recordUnbilled(engine, newRecord(context, surface, model), 'refused', refusal),
    refuseRead: (request, token, refusal) => recordRefused(engine, request, refusal, token),
    runText: (context, call) => runText(engine, context, call),
    countInput: (context, call) => afterNotice(engine, context, countInput(engine, context, call)),
  }) satisfies Partial<CallerApi>

/** The answer, after a refusal for want of balance has been told. */
async function afterNotice<T>(
  engine: Engine,
  context: Parameters<typeof notifyEmpty>[1],
  answer: Promise<T>,
): Promise<T> {
  const given = await answer
  await notifyEmpty(engine, context, given)
  return given
}

const tasksOf = (engine: Engine) =>
  ({
    createTask: (context, create) =>
      afterNotice(
        engine,
        context,
        createTask(
          engine,
          context,
          create.kind === 'video' ? { ...create, request: asVideoRequest(create.request) } : create,
        ),
      ),
    createResponse: (context, call, options) =>
      afterNotice(engine, context, startResponse(engine, context, call, options)),
    readResponse: (token, id) => readResponse(engine, token, id),
    cancelResponse: (token, id) => cancelResponse(engine, token, id),
    deleteResponse: (token, id) => deleteResponse(engine, token, id),
    makeImages: (context, create) =>
      afterNotice(engine, context, makeImages(engine, context, create, fetchImages)),
    callbackIn: (value) => callbackIn(engine, value),
    findTask: (token, id, kind) => findTask(engine, token, id, kind),
    isOwnVideo: (token, id) => isOwnVideo(engine, token, id),
    listVideos: (token, page) => listVideos(engine, token, page),
    searchVideos: (token, filter) => searchVideos(engine, token, filter),
    searchImages: (token, filter) => searchImages(engine, token, filter),
    cancelVideo: (token, id) => cancelVideo(engine, token, id),
    hideTask: (token, id) => hideTask(engine, token, id),
  }) satisfies Partial<CallerApi>

const filesOf = (engine: Engine) =>
  ({
    linkTo: (task, part) => linksOf(engine)(task, part),
    followLink: (link) => followLink(engine, link),
    openContent: (task, input) => openContent(engine, task, input),
    openSandboxMedia: (name, input) => openSandboxMedia(engine, name, input),
  }) satisfies Partial<CallerApi>

const accountOf = (engine: Engine) =>
  ({
    reportUsage: (token, ask) => reportUsage(engine, token, ask),
    listMonths: (token, page) => listOwnMonths(engine, token, page),
    begunMonth: (month) => begunMonth(engine, month),
    showBill: (token, month, groupBy) => showOwnBill(engine, token, month, groupBy),
    openBillFile: (token, month) => openOwnBillFile(engine, token, month),
  }) satisfies Partial<CallerApi>

/** The catalog is replaced as a whole on a change. */
const modelsOf = (engine: Engine): CallerModels => ({
  visible: (token, name) => engine.catalog.visible(token, name),
  refusalOf: (token, name) => hiddenModel(engine, token, name),
  list: (token) => engine.catalog.listVisible(token),
  isNamed(token, name) {
    const { catalog } = engine
    if (catalog.visible(token, name) !== undefined) return true
    const isUnreachable = catalog.models.get(name)?.interfaces.length === 0
    return isUnreachable && token.models.some((pattern) => matches(pattern, name))
  },
  find: (name) => engine.catalog.models.get(name),
  servedBy: (token, model) =>
    engine.catalog
      .servedBy(model, token.translation === 'off')
      .flatMap((name) => interfaceRows[name] ?? []),
})

/** The request id leads to this line: a request of no account has no row. */
function notAuthenticated(
  engine: Engine,
  request: Parameters<CallerApi['authenticate']>[0],
  refusal: Refusal,
): Refusal {
  const { requestId, path, trace } = request
  engine.log.info('authentication failed', {
    request_id: requestId,
    trace_id: trace?.traceId,
    // What follows names the requested object, in the caller's own words.
    path: path.split('/').slice(0, 3).join('/'),
    code: refusal.code,
  })
  engine.meters?.turnedAway(refusal.code)
  return refusal
}

const batchesOf = (engine: Engine): BatchApi => {
  const { store, clock } = engine
  return {
    receiveFile: (token, content) => receiveFile(engine, token, content),
    keepFile: (_, received, terms) => keepFile(engine, received, terms),
    dropReceived: ({ id }) => dropFile(engine, id),
    findFile: (token, id) => readFile(engine, token, id),
    listFiles: ({ accountId }, page) => listFiles(store.read, accountId, page, clock.nowMs()),
    openFile: (token, id) => openFile(engine, token, id),
    deleteFile: (token, id) => deleteFile(engine, token, id),
    createBatch: (token, create) => createBatch(engine, token, create),
    findBatch: (token, id) => readBatch(engine, token, id),
    listBatches: ({ accountId }, page) => listBatches(store.read, accountId, page),
    cancelBatch: (token, id) => cancelBatch(engine, token, id),
  }
}
