// Videos of the vfa and vfb families, as tasks: one create, then polls. Images of the imga family
// come from the same upstream, by a table of their own.
import type { Provider } from '../../contract/provider.ts'
import { taskProvider, tasksOf } from '../tasks/provider.ts'
import type { TaskStyle } from '../tasks/style.ts'
import { inputFor, outlookOf, parametersFor } from './build-request.ts'
import { findTask } from './find-task.ts'
import { imageStyle } from './image-style.ts'
import { later, sharedStyle, urlsFor } from './shared-style.ts'
import { isLike, readReport } from './task-report.ts'

const createPath = '/api/v1/services/aigc/video-generation/video-synthesis'

const style: TaskStyle = {
  ...sharedStyle,
  buildRequest(request, { plainModel, model, baseUrl }) {
    const input = inputFor(plainModel, request)
    if ('problem' in input) return input
    return {
      url: baseUrl + createPath,
      headers: later,
      body: { model, input, parameters: parametersFor(plainModel, request) },
    }
  },
  outlook: outlookOf,
  report: (body, { plainModel }, requestId) => readReport(body, plainModel, requestId),
  find: (lost, upstream, ask) => findTask(lost, upstream, urlsFor(upstream), ask, isLike),
}

export const vf: Provider = { ...taskProvider(style), image: tasksOf(imageStyle) }
