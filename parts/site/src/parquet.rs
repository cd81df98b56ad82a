//! Parquet for notebooks: a file per table, compressed by Snappy, every column nullable.
//!
//! The type of a column follows from its unit, so that the files of many runs have one schema: text is UTF-8,
//! a flag is a boolean, a count is an INT64, and all else is a DOUBLE. Times and sizes are DOUBLEs too:
//! values per request are fractions, and a double represents integers exactly up to 2^53. Unlike in CSV,
//! names are unchanged.
//!
//! The metadata of the file describe the columns: `tare.format`, `tare.kind`, `tare.title`, `tare.began`,
//! `tare.section`, and `tare.columns`, which is the array of columns of the JSON format.

use std::sync::Arc;

use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical},
    column::writer::{ColumnWriter, ColumnWriterImpl},
    data_type::{ByteArray, DataType},
    errors::{ParquetError, Result},
    file::{metadata::KeyValue, properties::WriterProperties, writer::SerializedFileWriter},
    schema::types::Type,
};

use tare_report::document::{Unit, Value};
use tare_report::{
    Document,
    document::{Section, Table},
    write::{File, WriteError, tables},
};

/// A file for each table.
///
/// # Errors
/// If the library rejects a table.
pub fn parquet(document: &Document) -> std::result::Result<Vec<File>, WriteError> {
    let file = |(section, table): (&Section, &Table)| {
        let bytes = of_table(document, &section.id, table)?;
        Ok(File { name: format!("{}.parquet", section.id), bytes })
    };
    tables(document).map(file).collect()
}

/// The table of the section `id`.
///
/// # Errors
/// If the library rejects it.
pub fn of_table(document: &Document, id: &str, table: &Table) -> std::result::Result<Vec<u8>, WriteError> {
    write(document, id, table).map_err(|error| WriteError::Form {
        section: id.to_owned(),
        form: "Parquet",
        reason: error.to_string(),
    })
}

fn write(document: &Document, id: &str, table: &Table) -> Result<Vec<u8>> {
    let kinds: Vec<Physical> =
        table.columns.iter().enumerate().map(|(place, column)| kind(table, place, column.unit)).collect();
    let fields = table.columns.iter().zip(&kinds).map(|(column, kind)| field(&column.key, *kind));
    let schema = Type::group_type_builder("table").with_fields(fields.collect::<Result<_>>()?).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(metadata(document, id, table)?))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    let mut place = 0;
    while let Some(mut column) = group.next_column()? {
        write_column(column.untyped(), table, place)?;
        column.close()?;
        place += 1;
    }
    group.close()?;
    writer.into_inner()
}

fn metadata(document: &Document, id: &str, table: &Table) -> Result<Vec<KeyValue>> {
    let external = |error: serde_json::Error| ParquetError::External(Box::new(error));
    let kind = serde_json::to_value(document.kind).map_err(external)?;
    let columns = serde_json::to_string(&table.columns).map_err(external)?;
    let of = |key: &str, value: &str| KeyValue::new(format!("tare.{key}"), value.to_owned());
    Ok(vec![
        of("format", document.format),
        of("kind", kind.as_str().unwrap_or_default()),
        of("title", &document.title),
        of("began", &document.began),
        of("section", id),
        of("columns", &columns),
    ])
}

fn field(key: &str, kind: Physical) -> Result<Arc<Type>> {
    let logical = (kind == Physical::BYTE_ARRAY).then_some(LogicalType::String);
    let field = Type::primitive_type_builder(key, kind).with_repetition(Repetition::OPTIONAL);
    Ok(Arc::new(field.with_logical_type(logical).build()?))
}

/// The column type for the unit. If a value does not fit, which is a bug of the code that made the table, a
/// wider type is used, so that nothing is lost.
fn kind(table: &Table, place: usize, unit: Unit) -> Physical {
    let values = || table.rows.iter().filter_map(|row| row.get(place));
    let all = |fits: fn(&Value) -> bool| {
        values().all(|value| matches!(value, Value::None | Value::Never) || fits(value))
    };
    match unit {
        Unit::Flag if all(|value| matches!(value, Value::Flag(_))) => Physical::BOOLEAN,
        Unit::Count if all(|value| value.whole().is_some()) => Physical::INT64,
        Unit::Text | Unit::Flag => Physical::BYTE_ARRAY,
        _ if all(|value| value.number().is_some()) => Physical::DOUBLE,
        _ => Physical::BYTE_ARRAY,
    }
}

fn flag(value: &Value) -> Option<bool> {
    if let Value::Flag(flag) = value { Some(*flag) } else { None }
}

fn text(value: &Value) -> Option<ByteArray> {
    (!matches!(value, Value::None | Value::Never)).then(|| value.raw().as_str().into())
}

fn write_column(column: &mut ColumnWriter, table: &Table, place: usize) -> Result<()> {
    match column {
        ColumnWriter::ByteArrayColumnWriter(writer) => write_values(writer, table, place, text),
        ColumnWriter::BoolColumnWriter(writer) => write_values(writer, table, place, flag),
        ColumnWriter::Int64ColumnWriter(writer) => write_values(writer, table, place, Value::whole),
        ColumnWriter::DoubleColumnWriter(writer) => write_values(writer, table, place, Value::number),
        _ => Err(ParquetError::General("a column of a type that no unit has".to_owned())),
    }
}

/// The existing values, and for each row whether it has one: 1 or 0.
fn write_values<T: DataType>(
    writer: &mut ColumnWriterImpl<T>,
    table: &Table,
    place: usize,
    of: fn(&Value) -> Option<T::T>,
) -> Result<()> {
    let all: Vec<Option<T::T>> = table.rows.iter().map(|row| row.get(place).and_then(of)).collect();
    let there: Vec<i16> = all.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = all.into_iter().flatten().collect();
    writer.write_batch(&values, Some(&there), None).map(drop)
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use parquet::{
        file::reader::{FileReader, SerializedFileReader},
        record::{Field, Row},
    };
    use proptest::prelude::*;

    use super::*;
    use tare_report::{
        document::Column,
        write::fixture::{self, interleaved},
    };

    fn reader(bytes: Vec<u8>) -> SerializedFileReader<fs::File> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        SerializedFileReader::new(file).unwrap()
    }

    fn rows(bytes: Vec<u8>) -> Vec<Row> {
        reader(bytes).get_row_iter(None).unwrap().map(|row| row.unwrap()).collect()
    }

    fn values(row: &Row) -> Vec<Value> {
        let value = |field: &Field| match field {
            Field::Null => Value::None,
            Field::Str(text) => text.as_str().into(),
            Field::Bool(flag) => (*flag).into(),
            Field::Long(count) => (*count as u64).into(),
            Field::Double(number) => (*number).into(),
            other => panic!("no unit has {other:?}"),
        };
        row.get_column_iter().map(|(_, field)| value(field)).collect()
    }

    #[test]
    fn a_file_for_each_table_says_what_its_columns_are() {
        let files = parquet(&interleaved()).unwrap();
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["ranks.parquet", "slices.parquet"]);
        let reader = reader(files[0].bytes.clone());
        let metadata = reader.metadata().file_metadata();
        let mut schema = Vec::new();
        parquet::schema::printer::print_schema(&mut schema, metadata.schema());
        let pairs = metadata.key_value_metadata().unwrap();
        let pairs = pairs.iter().map(|pair| format!("{} = {}", pair.key, pair.value.as_deref().unwrap()));
        insta::assert_snapshot!(String::from_utf8(schema).unwrap() + &pairs.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn what_does_not_fit_its_unit_is_kept_in_a_wider_column() {
        let columns = ["a", "b", "c"].map(|key| Column::new(key, key, Unit::Count));
        let mut table = Table::new("Mistakes", columns.into());
        table.rows.push(vec![1.5.into(), "many".into(), 2_u64.into()]);
        table.rows.push(vec![1_u64.into(), 2.5.into()]);
        let rows = rows(of_table(&interleaved(), "mistakes", &table).unwrap());
        assert_eq!(values(&rows[0]), table.rows[0]);
        assert_eq!(values(&rows[1]), [1.0.into(), "2.5".into(), Value::None]);
    }

    #[test]
    fn no_rows_are_a_file_too() {
        let mut table = interleaved().sections.remove(0).table.unwrap();
        table.rows.clear();
        assert!(rows(of_table(&interleaved(), "ranks", &table).unwrap()).is_empty());
    }

    proptest! {
        #[test]
        fn every_value_reads_back(table in fixture::table()) {
            let read = rows(of_table(&interleaved(), "any", &table).unwrap());
            prop_assert_eq!(read.len(), table.rows.len());
            for (read, row) in read.iter().zip(&table.rows) {
                prop_assert_eq!(&values(read), row);
            }
        }
    }
}
