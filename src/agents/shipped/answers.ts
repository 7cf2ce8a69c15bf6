/** How the agents of `mini-cc review` answer. */

export const SEVERITIES = ['high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

const text = {type: 'string'} as const;
const line = {type: 'integer', minimum: 1} as const;
const FINDING_FIELDS = {
  severity: {enum: SEVERITIES},
  title: text,
  file: text,
  line,
  endLine: line,
  why: text,
  failure: text,
  suggestion: text,
} as const;

/** JSON Schema of a finder's answer. */
export const FINDINGS_SCHEMA = {
  type: 'object',
  properties: {
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: FINDING_FIELDS,
        required: ['severity', 'title', 'file', 'line', 'why', 'failure'],
      },
    },
  },
  required: ['findings'],
} as const;

/** JSON Schema of a verifier's answer. */
export const VERDICT_SCHEMA = {
  type: 'object',
  properties: {verdict: {enum: ['confirmed', 'plausible', 'refuted']}, why: text},
  required: ['verdict', 'why'],
} as const;
