/** Creates spans with OpenTelemetry. It is loaded only when OTEL_EXPORTER_OTLP_ENDPOINT is set. */
import {resourceFromAttributes} from '@opentelemetry/resources';
import {BatchSpanProcessor, TracerProvider} from '@opentelemetry/sdk-trace';
import type {AgentEvent} from '../core/contract/events.ts';
import {CLOSE_MS, CollectorExporter, getTracesUrl} from './exporter.ts';
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
