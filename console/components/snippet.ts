// A piece of code that can be copied, by the name of its language or tool.
export interface Snippet {
  name: string
  code: string
}
