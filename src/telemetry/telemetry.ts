/**
 * Creates spans with OpenTelemetry, and sends them to a collector by OTLP over HTTP, in the encoding of the official
 * packages. It is loaded only when OTEL_EXPORTER_OTLP_ENDPOINT is set. A collector that is down, slow or refuses does
 * not disturb the session: spans that cannot be sent are dropped, and the end waits at most `CLOSE_MS`.
 */
import {JsonTraceSerializer, ProtobufTraceSerializer} from '@opentelemetry/otlp-transformer';
import {resourceFromAttributes} from '@opentelemetry/resources';
import {BatchSpanProcessor, type ReadableSpan, type SpanExporter, TracerProvider} from '@opentelemetry/sdk-trace';
import type {AgentEvent} from '../core/contract/events.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {tryOr} from '../core/util/errors.ts';
import {SessionSpans} from './session-spans.ts';

interface TelemetryOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly sessionId: string;
  /** The span that the session's spans belong to. */
  readonly traceparent?: string | undefined;
}

export interface Telemetry {
  readonly listen: (event: AgentEvent) => void;
  /** Returns the span of an agent in the form of W3C's `traceparent`. */
  traceparent(agentId: string): string | undefined;
  /** Sends the remaining spans within half a second. It never rejects. */
  close(): Promise<void>;
}

/** @returns undefined when the address cannot be used */
export function startTelemetry({env, version, sessionId, traceparent}: TelemetryOptions): Telemetry | undefined {
  const url = getTracesUrl(env);
  if (url === undefined) return undefined;
  const exporter = new CollectorExporter(url, env);
  const processor = new BatchSpanProcessor({exporter, scheduledDelayMillis: 2_000});
  const resource = resourceFromAttributes({
    'service.name': env.OTEL_SERVICE_NAME || 'mini-cc',
    'service.version': version,
  });
  const provider = new TracerProvider({resource, spanProcessors: [processor]});
  const withContent = env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.toLowerCase() === 'true';
  const spans = new SessionSpans(provider.getTracer('mini-cc', version), {sessionId, withContent, traceparent});
  return {
    listen: (event) => spans.listen(event),
    traceparent: (agentId) => spans.traceparent(agentId),
    async close() {
      spans.end();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
      });
      // Spans that the collector does not take in time are lost.
      await Promise.race([provider.forceFlush().catch(() => undefined), late]);
      clearTimeout(timer);
      await exporter.shutdown();
    },
  };
}

type Variables = Readonly<Record<string, string | undefined>>;

const SEND_MS = 5_000;
/** Milliseconds for the last spans when mini-cc ends. */
const CLOSE_MS = 500;
const SUCCESS = 0;
const FAILED = 1;

/** Returns the address for spans; undefined when nothing is to be sent. */
function getTracesUrl(env: Variables): string | undefined {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!base || env.OTEL_SDK_DISABLED === 'true') return undefined;
  const url = own || `${base.replace(/\/+$/, '')}/v1/traces`;
  return /^https?:/.test(url) && URL.canParse(url) ? url : undefined;
}

class CollectorExporter implements SpanExporter {
  readonly #abort = new AbortController();
  readonly #headers: Readonly<Record<string, string>>;
  readonly #isProtobuf: boolean;

  constructor(
    private readonly url: string,
    env: Variables,
  ) {
    this.#isProtobuf = env.OTEL_EXPORTER_OTLP_PROTOCOL === 'http/protobuf';
    this.#headers = {
      'content-type': this.#isProtobuf ? 'application/x-protobuf' : 'application/json',
      ...parseHeaders(env.OTEL_EXPORTER_OTLP_HEADERS),
    };
  }

  export(spans: ReadableSpan[], onResult: (result: {code: number; error?: Error}) => void): void {
    const serializer = this.#isProtobuf ? ProtobufTraceSerializer : JsonTraceSerializer;
    const body = serializer.serializeRequest(spans);
    const sent = body ? this.#send(body) : Promise.resolve(false);
    const told = sent.then(
      (ok) => onResult({code: ok ? SUCCESS : FAILED}),
      (error: unknown) => onResult({code: FAILED, error: error instanceof Error ? error : new Error(String(error))}),
    );
    inBackground(told, neverRejects);
  }

  /** Aborts the requests that run. */
  async shutdown(): Promise<void> {
    this.#abort.abort();
  }

  async #send(body: Uint8Array): Promise<boolean> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: this.#headers,
      body: Buffer.from(body),
      // The headers may contain a key, which only this address may get.
      redirect: 'manual',
      signal: AbortSignal.any([this.#abort.signal, AbortSignal.timeout(SEND_MS)]),
    });
    await response.body?.cancel();
    return response.ok;
  }
}

/** Parses `key=value,key=value` with values encoded as in a URL. */
function parseHeaders(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((part) => {
    const at = part.indexOf('=');
    return at < 1 ? [] : [[part.slice(0, at).trim(), decode(part.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

/** A text in which a percent sign begins no code is used unchanged. */
function decode(text: string): string {
  return tryOr(() => decodeURIComponent(text), text);
}
