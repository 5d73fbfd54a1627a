import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { ScrolledText } from '../../markdown/scrolled-text.tsx';
import { SidePanel } from '../../peek/side-panel.tsx';
import styles from './api.module.css';
import { curlLine, jsonSchema, type Operation, type Parameter, type Schema } from './document.ts';
import { PathText } from './path-text.tsx';
import { SchemaTree, typeText } from './schema-tree.tsx';

interface OperationPanelProps {
  operation: Operation;
  schemas: Readonly<Record<string, Schema>>;
  onClose: () => void;
}

/** An operation: what it does, its parameters, bodies and errors, and a line for a shell. */
export function OperationPanel({ operation, schemas, onClose }: OperationPanelProps) {
  const { method, path, summary, description, parameters = [], requestBody, responses = {} } = operation;
  const curl = curlLine(operation, window.location.origin);
  const body = jsonSchema(requestBody);
  return (
    <SidePanel title={summary ?? operation.operationId} onClose={onClose}>
      <p className={styles.path}>
        <code>
          <strong>{method.toUpperCase()}</strong> <PathText path={path} />
        </code>
      </p>
      {description && (
        <p className={layout.text}>
          <TitleText text={description} />
        </p>
      )}
      <div className={styles.curl}>
        <ScrolledText className={layout.code}>{curl}</ScrolledText>
        <CopyButton text={curl} what="curl line" />
      </div>
      {parameters.length > 0 && (
        <section>
          <h3>Parameters</h3>
          <ul className={styles.tree}>
            {parameters.map((parameter) => (
              <ParameterLine key={`${parameter.in} ${parameter.name}`} parameter={parameter} />
            ))}
          </ul>
        </section>
      )}
      {body && (
        <section>
          <h3>Request body{requestBody?.required ? '' : ', optional'}</h3>
          <SchemaTree schema={body} schemas={schemas} />
        </section>
      )}
      {Object.entries(responses).map(([status, response]) => (
        <section key={status}>
          <h3>Response {status}</h3>
          <p>{response.description}</p>
          {status.startsWith('2') && <SchemaTree schema={jsonSchema(response) ?? {}} schemas={schemas} />}
        </section>
      ))}
    </SidePanel>
  );
}

function ParameterLine({ parameter }: { parameter: Parameter }) {
  const { name, required, description, schema = {} } = parameter;
  return (
    <li className={styles.field}>
      <code>{name}</code>{' '}
      <span className={layout.muted}>
        {parameter.in}, {typeText(schema)}
        {required ? ', required' : ''}
      </span>
      {description && (
        <p>
          <TitleText text={description} />
        </p>
      )}
    </li>
  );
}
