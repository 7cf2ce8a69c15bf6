/** Asks the person what a server wants to know: one question for each field of its form, or one about an address. */
import type {ElicitRequest, ElicitResult} from '@modelcontextprotocol/client';
import type {Answer} from '../../core/contract/events.ts';
import type {CommandQuestion} from '../../core/contract/session-requests.ts';
import {isObject} from '../../core/util/objects.ts';
import {showControls, toOneLine} from '../../core/util/text.ts';

/** Asks the person. @returns undefined when the question was withdrawn */
export type AskPerson = (question: CommandQuestion, signal: AbortSignal) => Promise<Answer | undefined>;

type Value = string | number | boolean | string[];

/** A field of the form, as a question shows it. */
interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** Absent when any text, or any number, may be typed. */
  readonly choices?: readonly {readonly label: string; readonly value: string | boolean}[];
  readonly isMany: boolean;
  readonly initial: Value | undefined;
  /** @returns the value, or a text that describes what it must be */
  parse(text: string): {readonly value: Value} | string;
}

const DECLINE = 'decline';
const LEAVE_OUT = 'leave it out';
/** Questions offer at most nine choices by digit; more are a list. */
const MAX_DIGITS = 9;

/** @param server name of the server, which each question shows */
export async function elicit(
  server: string,
  params: ElicitRequest['params'],
  ask: AskPerson,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const message = showControls(params.message);
  const title = `The MCP server ${server} asks`;
  if ('url' in params) return confirm(`${title} you to open an address`, `${message}\n\n${showControls(params.url)}`);
  const fields = readFields(params.requestedSchema);
  if (fields.length === 0) return confirm(title, message);
  const content: Record<string, Value> = {};
  for (const [index, field] of fields.entries()) {
    const place = fields.length === 1 ? '' : ` (${index + 1} of ${fields.length})`;
    const detail = [message, field.description].filter((line) => line !== '').join('\n\n');
    const value = await askField(field, {title: `${title}: ${field.title}${place}`, detail});
    if (typeof value === 'object' && 'action' in value) return value;
    if (value.length > 0) content[field.name] = value[0]!;
  }
  return {action: 'accept', content};

  async function confirm(shown: string, detail: string): Promise<ElicitResult> {
    const options = [
      {digit: 1, choice: 'accept', label: 'yes, done'},
      {digit: 2, choice: DECLINE, label: 'no'},
    ];
    const answer = await ask({title: shown, detail, options, escape: DECLINE}, signal);
    return {action: answer === undefined ? 'cancel' : answer.choice === 'accept' ? 'accept' : DECLINE};
  }

  /** @returns one value, none when the field is left out, or the end of the form */
  async function askField(field: Field, about: {title: string; detail: string}): Promise<Value[] | ElicitResult> {
    let because: string | undefined;
    for (;;) {
      const answer = await ask({...about, ...toControls(field), ...(because && {because}), escape: DECLINE}, signal);
      if (answer === undefined) return {action: 'cancel'};
      if (answer.choice === DECLINE) return {action: DECLINE};
      if (answer.choice === LEAVE_OUT) return [];
      if (answer.choice !== 'text') return chosen(field, answer.choice);
      const parsed = field.parse(answer.note ?? '');
      if (typeof parsed !== 'string') return [parsed.value];
      because = parsed;
    }
  }
}

/** Returns the value of a choice, or of the default, whose text Enter answers. */
function chosen({choices = [], initial}: Field, choice: string): Value[] {
  const found = choices.find(({label}) => label === choice);
  return found ? [found.value] : initial === undefined ? [] : [initial];
}

function toControls({
  choices,
  isMany,
  isRequired,
  initial,
}: Field): Pick<CommandQuestion, 'options' | 'list' | 'enter'> {
  const label = choices?.find(({value}) => value === initial)?.label;
  const enter = initial === undefined ? (isRequired ? undefined : LEAVE_OUT) : (label ?? `use ${String(initial)}`);
  const onEnter = enter === undefined ? {} : {enter};
  if (!choices || isMany) return {options: [], ...onEnter};
  if (choices.length > MAX_DIGITS) return {list: choices.map((each) => ({choice: each.label, label: each.label}))};
  return {options: choices.map((each, at) => ({digit: at + 1, choice: each.label, label: each.label})), ...onEnter};
}

function readFields(schema: unknown): Field[] {
  const {properties, required} = isObject(schema) ? schema : {};
  const names = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, value]) =>
    readField(name, isObject(value) ? value : {}, names.includes(name)),
  );
}

function readField(name: string, schema: Record<string, unknown>, isRequired: boolean): Field {
  const isMany = schema.type === 'array';
  const choices =
    schema.type === 'boolean'
      ? [
          {label: 'yes', value: true},
          {label: 'no', value: false},
        ]
      : readChoices(isMany && isObject(schema.items) ? schema.items : schema);
  const labels = choices?.map(({label}) => label).join(', ');
  const lines = [typeof schema.description === 'string' ? schema.description : '', isMany ? `Any of: ${labels}` : ''];
  return {
    name,
    title: toOneLine(showControls(typeof schema.title === 'string' ? schema.title : name)),
    description: showControls(lines.filter((line) => line !== '').join('\n')),
    isRequired,
    ...(choices && {choices}),
    isMany,
    initial: schema.default as Value | undefined,
    parse: (text) => (isMany ? parseMany(text, choices ?? []) : parseText(text, schema)),
  };
}

/** Reads the forms in which the protocol lists choices: `enum` with `enumNames`, `oneOf` and `anyOf` with titles. */
function readChoices(schema: Record<string, unknown>): {label: string; value: string}[] | undefined {
  const {enum: values, enumNames, oneOf, anyOf} = schema;
  const titled = [oneOf, anyOf].find(Array.isArray);
  const pairs = Array.isArray(values)
    ? values.map((value, at) => [value, Array.isArray(enumNames) ? enumNames[at] : undefined])
    : titled?.map((each) => [each?.const, each?.title]);
  return pairs?.map(([value, label]) => ({
    label: toOneLine(showControls(String(label ?? value))),
    value: String(value),
  }));
}

function parseMany(text: string, choices: NonNullable<Field['choices']>) {
  const words = text.split(',').map((word) => word.trim().toLowerCase());
  const values = words.map((word) =>
    choices.find(({label, value}) => [label, String(value)].some((each) => each.toLowerCase() === word)),
  );
  const wrong = words[values.indexOf(undefined)];
  return wrong === undefined
    ? {value: values.map((each) => String(each!.value))}
    : `${wrong} is none of the choices; separate them by commas`;
}

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^@\s]+@[^@\s]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => !Number.isNaN(Date.parse(text)),
};

function parseText(text: string, schema: Record<string, unknown>): {value: string | number} | string {
  const {type, format, minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity} = schema;
  if (type === 'number' || type === 'integer') {
    const value = Number(text);
    if (Number.isNaN(value) || (type === 'integer' && !Number.isInteger(value)))
      return `it must be ${type === 'integer' ? 'a whole number' : 'a number'}`;
    if (value < (minimum as number) || value > (maximum as number)) return `it must be from ${minimum} to ${maximum}`;
    return {value};
  }
  if (typeof format === 'string' && FORMATS[format]?.(text) === false) return `it must be of the form ${format}`;
  if (text.length < (minLength as number) || text.length > (maxLength as number))
    return `it must have ${minLength} to ${maxLength} characters`;
  return {value: text};
}
