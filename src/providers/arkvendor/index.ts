// Native video tasks: the caller's own words go up as they are, but for the model's name and the
// few that mean something else there.
import type { Provider } from '../../contract/provider.ts'
import { cancelTask } from './cancel-task.ts'
import { checkTask } from './check-task.ts'
import { startVideo } from './start-video.ts'

export const arkvendor: Provider = {
  protocol: 'arkvendor',
  video: { start: startVideo, check: checkTask, cancel: cancelTask },
}
