// Video tasks of the vfa and vfb families: one create, then questions about the task.
import type { Provider } from '../../contract/provider.ts'
import { cancelTask } from './cancel-task.ts'
import { checkTask } from './check-task.ts'
import { startVideo } from './start-video.ts'

export const vf: Provider = {
  protocol: 'vf',
  video: { start: startVideo, check: checkTask, cancel: cancelTask },
}
