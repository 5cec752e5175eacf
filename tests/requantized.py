"""The weights of a model in another quantization, made on the spot."""

from __future__ import annotations

from pathlib import Path

from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, quants

KINDS = (GGMLQuantizationType.Q4_1, GGMLQuantizationType.Q8_0)
"""The quantizations that are replaced; norms and the like stay as they are."""


def requantized(source: Path, target: Path, kind: GGMLQuantizationType) -> Path:
    """Write `source` with its quantized tensors in `kind` to `target`: more bits add nothing."""
    reader = GGUFReader(source)
    writer = GGUFWriter(target, str(reader.fields["general.architecture"].contents()))
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        if field.types[0] == GGUFValueType.ARRAY:
            writer.add_array(name, field.contents())
        else:
            writer.add_key_value(name, field.contents(), field.types[0])
    for tensor in reader.tensors:
        if tensor.tensor_type in KINDS:
            plain = quants.dequantize(tensor.data, tensor.tensor_type)
            writer.add_tensor(tensor.name, quants.quantize(plain, kind), raw_dtype=kind)
        else:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target
