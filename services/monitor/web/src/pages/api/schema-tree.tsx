import layout from '@pipeline/web/page/layout.module.css';
import { useState } from 'react';
import styles from './api.module.css';
import type { Schema } from './document.ts';

type Schemas = Readonly<Record<string, Schema>>;

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);
const OPEN_DEPTH = 2;

/** The type of a schema in words, such as `array of Issue` or `"open" | "done"`. */
export function typeText(schema: Schema): string {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(typeText).join(' | ');
  if (schema.type === 'array') return `array of ${schema.items ? typeText(schema.items) : 'anything'}`;
  const type = typeof schema.type === 'string' ? schema.type : (schema.type?.join(' | ') ?? 'anything');
  return [type, schema.format, boundsText(schema)].filter(Boolean).join(', ');
}

function boundsText({ minimum, maximum, maxLength }: Schema): string {
  if (maxLength !== undefined) return `at most ${maxLength} characters`;
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  return minimum === undefined ? '' : `from ${minimum}`;
}

/** The schema whose fields are shown: of a reference, of the items of an array, of the part that has fields. */
function fieldsOf(schema: Schema, schemas: Schemas): Schema | undefined {
  const target = schema.$ref ? schemas[nameOf(schema.$ref)] : schema;
  if (!target) return undefined;
  if (target.items) return fieldsOf(target.items, schemas);
  const choice = (target.anyOf ?? target.oneOf ?? target.allOf)?.find((each) => each.$ref || each.properties);
  if (choice) return fieldsOf(choice, schemas);
  if (target.properties) return target;
  return typeof target.additionalProperties === 'object' ? fieldsOf(target.additionalProperties, schemas) : undefined;
}

interface SchemaTreeProps {
  schema: Schema;
  schemas: Schemas;
  /** Names on the way, so that a schema which holds itself ends. */
  above?: readonly string[];
}

/** The fields of a schema; deeper ones are opened by hand. */
export function SchemaTree({ schema, schemas, above = [] }: SchemaTreeProps) {
  const target = fieldsOf(schema, schemas);
  if (!target?.properties) return <p className={layout.muted}>{typeText(schema)}</p>;
  return (
    <ul className={styles.tree}>
      {Object.entries(target.properties).map(([name, field]) => (
        <li key={name} className={styles.field}>
          <code>{name}</code>{' '}
          <span className={layout.muted}>
            {typeText(field)}
            {target.required?.includes(name) ? '' : ', optional'}
          </span>
          {field.description && <p>{field.description}</p>}
          <Deeper field={field} schemas={schemas} above={above} />
        </li>
      ))}
    </ul>
  );
}

function Deeper({ field, schemas, above }: { field: Schema; schemas: Schemas; above: readonly string[] }) {
  const [isOpen, setOpen] = useState(above.length + 1 < OPEN_DEPTH);
  const name = typeText(field);
  if (!fieldsOf(field, schemas)?.properties || above.includes(name)) return null;
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Fields</summary>
      {isOpen && <SchemaTree schema={field} schemas={schemas} above={[...above, name]} />}
    </details>
  );
}
