// Every metric: its name, its help text, and how values of several processes combine.
// docs/run/metrics.md explains each; a test compares the two.
import type { Family, MetricType } from '../../../lib/telemetry/metrics.ts'

interface Row {
  type: MetricType
  help: string
  /** For gauges only: counters are summed. */
  across?: Family['across']
}

const counter = (help: string): Row => ({ type: 'counter', help })
const histogram = (help: string): Row => ({ type: 'histogram', help })
const gauge = (help: string, across: Family['across'] = 'sum'): Row => ({
  type: 'gauge',
  help,
  across,
})

export const metrics = {
  gateway_calls_total: counter('Requests that were answered, by how.'),
  gateway_errors_total: counter('Requests that were answered with an error, by its code.'),
  gateway_auth_failures_total: counter('Requests without a valid token.'),
  gateway_call_duration_seconds: histogram('From the request to the end of its answer.'),
  gateway_first_byte_seconds: histogram('From the request to the first byte of its answer.'),
  gateway_overhead_seconds: histogram('What the gateway itself added to a text call.'),
  gateway_tokens_total: counter('Tokens of text, as charged.'),
  gateway_images_total: counter('Images, as charged.'),
  gateway_video_seconds_total: counter('Seconds of video that were delivered.'),
  gateway_spend_total: counter('Charges, in the currency of the gateway; approximate.'),
  gateway_charges_total: counter(
    'Charges, by whether the upstream reported the usage or the gateway estimated it.',
  ),
  gateway_losses_total: counter('Upstream work that was not charged, in the currency.'),
  gateway_attempts_total: counter('Tries at an upstream, by how they ended.'),
  gateway_attempt_duration_seconds: histogram('From the start of a try to its end.'),
  gateway_failovers_total: counter('Tries after the first, of one request.'),
  gateway_calls_left_total: counter(
    'Text calls whose caller left while they were upstream, by how they are charged: exact, estimated or free.',
  ),
  gateway_client_retries_total: counter('Requests that clients say they repeat.'),
  gateway_requests_in_flight: gauge('Requests under way.'),
  gateway_streams_abandoned: gauge('Answers read to their end although the caller has left.'),
  gateway_channel_state: gauge('1 for the state a channel is in, 0 for the others.'),
  gateway_channel_busy: gauge('Calls under way on a channel.'),
  gateway_channel_limit: gauge('Most calls at once on a channel, in one process.'),
  gateway_tasks: gauge('Tasks that have not ended, by state.', 'max'),
  gateway_tasks_created_total: counter('Tasks that were accepted.'),
  gateway_tasks_ended_total: counter('Tasks that have ended, by how.'),
  gateway_task_duration_seconds: histogram('From the acceptance of a task to its end.'),
  gateway_tasks_oldest_seconds: gauge('Age of the oldest task that has not ended.', 'max'),
  gateway_tasks_overdue_seconds: gauge('How long the next poll of a task is overdue.', 'max'),
  gateway_poll_lag_seconds: histogram('Delay of task polls.'),
  gateway_task_polls_total: counter('Task polls, by whether the upstream answered.'),
  gateway_batches: gauge('Batches that have not ended, by state.', 'max'),
  gateway_batches_ended_total: counter('Batches that have ended, by how.'),
  gateway_batch_lines_total: counter('Lines of batches that have ended, by how.'),
  gateway_callbacks_waiting: gauge('Callbacks that have not been delivered.', 'max'),
  gateway_callbacks_overdue_seconds: gauge('How long the next callback is overdue.', 'max'),
  gateway_callback_attempts_total: counter('Attempts to deliver a callback, by how they went.'),
  gateway_callback_lag_seconds: histogram('From when an attempt was due to when it was sent.'),
  gateway_ledger_commit_seconds: histogram('Time to make one batch of charges durable.'),
  gateway_ledger_records_total: counter('Request rows and charges that were made durable.'),
  gateway_ledger_failures_total: counter('Batches of charges that could not be written.'),
  gateway_receipts_pending: gauge('Entries whose receipts are not signed yet.'),
  gateway_accounts_suspended: gauge('Accounts whose books do not add up.', 'max'),
  gateway_alerts_open: gauge('Unresolved alerts, by kind.', 'max'),
  gateway_store_healthy: gauge('1 while the store takes writes.', 'min'),
  gateway_db_counts_timestamp_seconds: gauge(
    'When tasks, batches, callbacks and alerts were counted.',
    'min',
  ),
  gateway_log_lines_total: counter('Lines of the log, by level.'),
  gateway_trace_spans_total: counter('Spans, by what became of them.'),
  gateway_event_loop_delay_seconds: histogram('How late a timer fired.'),
  gateway_process_cpu_seconds_total: counter('CPU time of the server processes.'),
  gateway_process_resident_memory_bytes: gauge('Memory of the server processes.'),
  gateway_process_start_time_seconds: gauge('When the oldest server process started.', 'min'),
  gateway_processes: gauge('Server processes that were asked.'),
  gateway_draining: gauge('1 while the gateway shuts down.', 'max'),
  gateway_info: gauge('Always 1; what runs.', 'max'),
} as const satisfies Readonly<Record<`gateway_${string}`, Row>>

export type MetricName = keyof typeof metrics

export function familyOf(name: MetricName, samples: Family['samples']): Family {
  const { type, help, across = 'sum' }: Row = metrics[name]
  return { name, type, help, across, samples }
}

/** In seconds. From five milliseconds to five minutes. */
export const callBounds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
]
export const firstByteBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
export const overheadBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
]
export const taskBounds = [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14_400, 86_400]
export const lagBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900]
export const delayBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
