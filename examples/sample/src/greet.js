/** The greeting for a person. */
export function greet(name) {
  return `Hello, ${name}!`;
}
