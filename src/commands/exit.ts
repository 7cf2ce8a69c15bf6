import type {Command} from '../core/session.ts';

export const exitCommand: Command = {
  name: 'exit',
  description: 'leave',
  run: () => ({ok: true, text: '', exit: true}),
};
