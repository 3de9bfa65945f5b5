// The coding tools of the guide: how each is installed, which style it speaks, and which of its own tools
// read a file, edit it and run a command.
import { join } from 'node:path'
import { modelOver, type Wire, wires } from '../support/one-wire.ts'

/** A call that the model makes, with the tool's own names. A text is the input of a free-form tool. */
export interface Step {
  tool: string
  input: Readonly<Record<string, unknown>> | string
}

/** Several calls in one answer; one of them may fail. */
type Steps = readonly (Step | readonly Step[])[]

/** The work that a tool is given. */
export const work = {
  file: 'notes.txt',
  before: 'A leaf is gren in spring.\n',
  wrong: 'gren',
  right: 'green',
  after: 'A leaf is green in spring.\n',
  copy: 'checked.txt',
  command: 'cp notes.txt checked.txt && cat checked.txt',
}

export interface CodingTool {
  /** The heading of its section in the guide. */
  name: string
  speaks: Wire
  /** What is special about this run. */
  variant?: string
  /** The name of the model, if the tool is to recognise it. */
  model?(wire: Wire): string
  /** The wires of the upstreams that it is tried with. */
  over: readonly Wire[]
  /** Packages besides its own. */
  needs?: readonly string[]
  /** So that it asks nobody but the gateway. */
  env: Readonly<Record<string, string>>
  /** Absent for a tool that edits by what the model writes, and so cannot be led. */
  steps?(folder: string, wire: Wire): Steps
}

/** The question, with the calls that the sandbox makes one after the other. Some tools quote what has spaces. */
export function promptFor({ steps }: CodingTool, folder: string, wire: Wire): string {
  if (steps === undefined) return 'What is wrong in the notes?'
  const script = steps(folder, wire).map((step) =>
    'tool' in step ? [step.tool, step.input] : step.map(({ tool, input }) => [tool, input]),
  )
  return `Correct:\n[[sim:reasoning=20]][[sim:tools=${JSON.stringify(script).replaceAll(' ', '\\u0020')}]]`
}

const { file, wrong, right, command } = work
const missing = 'missing.txt'

const claudeCode: CodingTool = {
  name: 'Claude Code',
  speaks: 'messages',
  over: wires,
  env: { DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1' },
  steps: (folder) => [
    [
      { tool: 'Read', input: { file_path: join(folder, file) } },
      { tool: 'Read', input: { file_path: join(folder, missing) } },
    ],
    { tool: 'ToolSearch', input: { query: 'select:NotebookEdit', max_results: 1 } },
    {
      tool: 'Edit',
      input: { file_path: join(folder, file), old_string: wrong, new_string: right },
    },
    { tool: 'Bash', input: { command, description: 'Copy the notes' } },
  ],
}

const patch = `*** Begin Patch
*** Update File: ${file}
@@
-${work.before}+${work.after}*** End Patch
`

const codex: CodingTool = {
  name: 'Codex CLI',
  speaks: 'responses',
  over: wires,
  env: {},
  steps: () => [
    [
      { tool: 'exec_command', input: { cmd: `cat ${file}` } },
      { tool: 'exec_command', input: { cmd: `cat ${missing}` } },
    ],
    { tool: 'exec_command', input: { cmd: `apply_patch <<'EOF'\n${patch}EOF` } },
    { tool: 'exec_command', input: { cmd: command } },
  ],
}

const search: Step = { tool: 'tool_search', input: { query: 'spawn agent', limit: 2 } }

/** Then it has a free-form tool for patches, and searches for tools that it does not list. */
const codexKnown: CodingTool = {
  ...codex,
  variant: 'with a model that it knows',
  model: (wire) => `gpt-5.5-${modelOver(wire)}`,
  // The sandbox itself calls functions only.
  steps: (_, wire) => [
    { tool: 'exec_command', input: { cmd: `cat ${file}` } },
    ...(wire === 'responses' ? [] : [search]),
    { tool: 'apply_patch', input: patch },
    { tool: 'exec_command', input: { cmd: command } },
  ],
}

const geminiCli: CodingTool = {
  name: 'Gemini CLI',
  speaks: 'generate',
  over: wires,
  env: { GEMINI_TELEMETRY_ENABLED: 'false' },
  steps: () => [
    [
      { tool: 'read_file', input: { file_path: file } },
      { tool: 'read_file', input: { file_path: missing } },
    ],
    {
      tool: 'replace',
      input: {
        file_path: file,
        instruction: 'Correct the spelling',
        old_string: wrong,
        new_string: right,
      },
    },
    { tool: 'run_shell_command', input: { command, description: 'Copy the notes' } },
  ],
}

const opencode: CodingTool = {
  name: 'opencode',
  speaks: 'chat',
  over: ['chat', 'messages'],
  env: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  },
  steps: (folder) => [
    { tool: 'read', input: { filePath: join(folder, file) } },
    { tool: 'edit', input: { filePath: join(folder, file), oldString: wrong, newString: right } },
    { tool: 'bash', input: { command, description: 'Copy the notes' } },
  ],
}

const qwenCode: CodingTool = {
  name: 'qwen-code',
  speaks: 'chat',
  over: ['chat', 'responses'],
  needs: ['node@22.23.3'],
  env: {},
  steps: (folder) => [
    { tool: 'read_file', input: { file_path: join(folder, file) } },
    {
      tool: 'edit',
      input: { file_path: join(folder, file), old_string: wrong, new_string: right },
    },
    { tool: 'run_shell_command', input: { command, is_background: false } },
  ],
}

const continueCli: CodingTool = {
  name: 'Continue',
  speaks: 'chat',
  over: ['chat', 'generate'],
  env: { CONTINUE_CLI_ENABLE_TELEMETRY: '0' },
  steps: (folder) => [
    { tool: 'Read', input: { filepath: join(folder, file) } },
    {
      tool: 'Edit',
      input: { file_path: join(folder, file), old_string: wrong, new_string: right },
    },
    { tool: 'Bash', input: { command } },
  ],
}

const cline: CodingTool = {
  name: 'Cline',
  speaks: 'chat',
  over: ['chat', 'messages'],
  env: { CLINE_NO_AUTO_UPDATE: '1' },
  steps: (folder) => [
    { tool: 'read_files', input: { files: [{ path: join(folder, file) }] } },
    { tool: 'editor', input: { path: join(folder, file), old_text: wrong, new_text: right } },
    { tool: 'run_commands', input: { commands: [command] } },
  ],
}

const aider: CodingTool = {
  name: 'aider',
  speaks: 'chat',
  over: ['chat', 'messages'],
  env: { AIDER_ANALYTICS_DISABLE: 'true', AIDER_CHECK_UPDATE: 'false' },
}

export const codingTools: readonly CodingTool[] = [
  claudeCode,
  codex,
  codexKnown,
  geminiCli,
  opencode,
  qwenCode,
  continueCli,
  cline,
  aider,
]
