/** The settings of a session that an editor shows as choices: mode, model and effort. */
import {RequestError, type SessionConfigOption, type SessionModeState} from '@agentclientprotocol/sdk/unstable';
import {PERMISSION_MODES, type PermissionMode} from '../../core/contract/events.ts';
import type {Thinking} from '../../core/contract/model.ts';
import type {Session} from '../../core/contract/session-requests.ts';

const MODE_NAMES: Readonly<Record<PermissionMode, string>> = {
  default: 'Ask before changes',
  acceptEdits: 'Accept edits',
  plan: 'Plan',
  bypassPermissions: 'No questions',
  dontAsk: 'Refuse instead of asking',
};
const MODEL_ALIASES = ['opus', 'sonnet', 'haiku'];
const EFFORTS: Readonly<Record<string, string>> = {
  default: "The model's own",
  off: 'Off',
  low: 'Low',
  medium: 'Medium',
  high: 'High',
};

export class ConfigOptions {
  readonly #modes: readonly PermissionMode[];
  #effort = 'default';

  /** @param mayBypass true when the editor may turn all questions off */
  constructor(
    private readonly session: Session,
    mayBypass: boolean,
  ) {
    const {permissionMode} = session.info;
    const isOffered = (mode: PermissionMode) =>
      mode === permissionMode || (mode === 'bypassPermissions' ? mayBypass : mode !== 'dontAsk');
    this.#modes = PERMISSION_MODES.filter(isOffered);
  }

  /** Returns what an editor gets when it opens the session. */
  describe() {
    return {modes: this.#describeModes(), configOptions: this.list()};
  }

  #describeModes(): SessionModeState {
    return {
      currentModeId: this.session.info.permissionMode,
      availableModes: this.#modes.map((id) => ({id, name: MODE_NAMES[id]})),
    };
  }

  /** @throws RequestError when the mode was not offered */
  setMode(mode: string): void {
    const found = this.#modes.find((each) => each === mode);
    if (!found) {
      throw RequestError.invalidParams(undefined, `there is no mode ${mode}: ${this.#modes.join(', ')}`);
    }
    this.session.request({type: 'set_permission_mode', mode: found});
  }

  list(): SessionConfigOption[] {
    const {currentModeId, availableModes} = this.#describeModes();
    const {model} = this.session.info;
    const models = [...new Set([model, ...MODEL_ALIASES])];
    return [
      {
        type: 'select',
        id: 'mode',
        name: 'Mode',
        category: 'mode',
        currentValue: currentModeId,
        options: availableModes.map(({id, name}) => ({value: id, name})),
      },
      {
        type: 'select',
        id: 'model',
        name: 'Model',
        category: 'model',
        currentValue: model,
        options: models.map((name) => ({value: name, name})),
      },
      {
        type: 'select',
        id: 'effort',
        name: 'Effort',
        category: 'thought_level',
        currentValue: this.#effort,
        options: Object.entries(EFFORTS).map(([value, name]) => ({value, name})),
      },
    ];
  }

  /** Any model that `/model` takes may be named. @throws RequestError for an unknown option or value */
  set(id: string, value: unknown): void {
    const text = String(value);
    switch (id) {
      case 'mode':
        this.setMode(text);
        return;
      case 'model':
        this.session.request({type: 'set_model', model: text});
        return;
      case 'effort': {
        if (!Object.hasOwn(EFFORTS, text)) {
          throw RequestError.invalidParams(undefined, `there is no effort ${text}: ${Object.keys(EFFORTS).join(', ')}`);
        }
        const thinking = text === 'default' ? {} : {thinking: text as Thinking};
        this.session.request({type: 'set_thinking', ...thinking});
        this.#effort = text;
        return;
      }
      default:
        throw RequestError.invalidParams(undefined, `there is no option ${id}: mode, model, effort`);
    }
  }
}
