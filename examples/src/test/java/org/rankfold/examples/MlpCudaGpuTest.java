// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.spark.train.Score;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/** The kernels against the host's own loops, bit by bit. */
@Tag("gpu")
class MlpCudaGpuTest {
  private static final long TIMEOUT_NS = 20_000_000_000L;

  /** Two hidden layers, widths that no block divides. */
  private static final int[] ODD = {50, 33, 17, 10};

  private static CudaDevice device;

  @BeforeAll
  static void requireDevice() {
    CudaProbe probe = CudaProbe.process();
    if (!probe.isAvailable()) {
      if (Boolean.getBoolean("rankfold.gpu.required")) {
        fail("rankfold.gpu.required, but " + probe.reason());
      }
      System.out.println("SKIPPED: " + probe.reason());
      Assumptions.abort(probe.reason());
    }
    device = CudaDevice.of(0);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"50-33-17-10", "64-64-10", "1-1-1", "3-2", "7-5-4-3-2-6", "784-128-10", "1000-3"})
  void shouldGiveTheHostsBitsWhenInputsAreSeeded(String layers) {
    int[] sizes = Arrays.stream(layers.split("-", -1)).mapToInt(Integer::parseInt).toArray();
    Mlp mlp = new Mlp(sizes);
    float[] parameters = parameters(mlp, 3);
    for (int count : new int[] {1, 2, 8, 31, 129}) {
      List<LabelledRow> rows = rows(mlp, count, 7L * count);
      float[] start = parameters(mlp, count);
      Result host = Result.ofHost(mlp, parameters, rows, start);
      Result gpu = Result.ofDevice(mlp, MlpCuda.source(), parameters, rows, start);
      assertThat(gpu).as("%s, %d rows", layers, count).isEqualTo(host);
    }
  }

  @Test
  void shouldGiveTheHostsBitsWhenRowsFillMoreThanOneStretch() {
    Mlp mlp = new Mlp(ODD);
    for (int count : new int[] {MlpCuda.ROWS - 1, MlpCuda.ROWS, 2 * MlpCuda.ROWS + 3}) {
      List<LabelledRow> rows = rows(mlp, count, count);
      float[] start = new float[mlp.parameterCount()];
      assertThat(Result.ofDevice(mlp, MlpCuda.source(), parameters(mlp, 1), rows, start))
          .isEqualTo(Result.ofHost(mlp, parameters(mlp, 1), rows, start));
    }
  }

  @Test
  void shouldLeaveTheGradientAloneWhenThereAreNoRows() {
    Mlp mlp = new Mlp(ODD);
    float[] start = new float[mlp.parameterCount()];
    Arrays.fill(start, -0.0f);
    Result gpu = Result.ofDevice(mlp, MlpCuda.source(), parameters(mlp, 1), List.of(), start);
    assertThat(gpu.score()).isEqualTo(Score.NONE);
    assertThat(gpu.gradient()).containsOnly(Float.floatToRawIntBits(-0.0f));
  }

  @Test
  void shouldGiveTheHostsBitsWhenNumbersAreSubnormalOrVast() {
    Mlp mlp = new Mlp(ODD);
    for (float scale : new float[] {0x1p-127f, 0x1p-100f, 0x1p-66f, 0x1p33f, 0x1p60f}) {
      float[] parameters = parameters(mlp, 5);
      for (int p = 0; p < parameters.length; p += 2) {
        parameters[p] *= scale;
      }
      List<LabelledRow> rows = rows(mlp, 40, 11);
      for (LabelledRow row : rows) {
        row.features()[(int) row.id() % 50] *= scale;
      }
      float[] start = new float[mlp.parameterCount()];
      assertThat(Result.ofDevice(mlp, MlpCuda.source(), parameters, rows, start))
          .as("scale=%g", scale)
          .isEqualTo(Result.ofHost(mlp, parameters, rows, start));
    }
  }

  @Test
  void shouldHaveNaNsWhereTheHostHasThemWhenInputsHaveSome() {
    Mlp mlp = new Mlp(ODD);
    float[] specials = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -0.0f};
    for (float special : specials) {
      for (boolean isInParameters : new boolean[] {false, true}) {
        float[] parameters = parameters(mlp, 5);
        List<LabelledRow> rows = rows(mlp, 20, 13);
        if (isInParameters) {
          parameters[mlp.weightsAt(1) + 40] = special;
        } else {
          rows.get(3).features()[7] = special;
        }
        float[] start = new float[mlp.parameterCount()];
        assertThat(Result.ofDevice(mlp, MlpCuda.source(), parameters, rows, start))
            .as("special=%s in %s", special, isInParameters ? "a weight" : "a row")
            .isEqualTo(Result.ofHost(mlp, parameters, rows, start));
      }
    }
  }

  @Test
  void shouldUseTheParametersLoadedLastWhenStepsFollowEachOther() {
    Mlp mlp = new Mlp(DigitsData.PIXELS, 64, DigitsData.CLASSES);
    List<LabelledRow> rows = DigitsData.read();
    float[] host = mlp.initialParameters(42);
    float[] gpu = host.clone();
    try (CudaStream stream = CudaStream.create(device);
        DeviceMemory memory = DeviceMemory.allocate(device, (long) host.length * Float.BYTES);
        MlpCuda model = new MlpCuda(mlp, stream)) {
      DeviceView gradient = memory.view(DType.F32);
      float[] sum = new float[host.length];
      for (int step = 0; step < 30; step++) {
        List<LabelledRow> batch = rows.subList(step * 48, step * 48 + 48);
        float[] hostSum = new float[host.length];
        Score hostScore = mlp.gradientSum(host, batch, hostSum);
        model.load(gpu);
        memory.fill((byte) 0, stream);
        Score gpuScore = model.gradientSum(batch, gradient);
        assertThat(model.evaluate(batch)).isEqualTo(gpuScore).isEqualTo(hostScore);
        stream.drain(TIMEOUT_NS);
        gradient.copyTo(View.of(sum));
        for (int p = 0; p < host.length; p++) {
          host[p] -= 0.3f * (hostSum[p] / 48);
          gpu[p] -= 0.3f * (sum[p] / 48);
        }
        assertThat(bits(gpu)).as("step %d", step).isEqualTo(bits(host));
      }
    }
  }

  @Test
  void shouldNameBothValuesWhenSomethingDoesNotFit() {
    Mlp mlp = new Mlp(ODD);
    try (CudaStream stream = CudaStream.create(device);
        DeviceMemory memory = DeviceMemory.allocate(device, 12);
        MlpCuda model = new MlpCuda(mlp, stream)) {
      assertThatThrownBy(() -> model.load(new float[3]))
          .hasMessageContaining("parameters length=3 != parameters=2441");
      model.load(new float[2441]);
      assertThatThrownBy(() -> model.gradientSum(rows(mlp, 1, 1), memory.view(DType.F32)))
          .hasMessageContaining("gradient length=3 != parameters=2441");
      assertThatThrownBy(() -> model.evaluate(List.of(new LabelledRow(8, new float[2], 0))))
          .hasMessageContaining("row 8 features=2 != inputs=50");
      MlpCuda closed = new MlpCuda(mlp, stream);
      closed.close();
      closed.close();
    }
  }

  @Test
  void shouldGiveItsMemoryBackWhenClosed() {
    Mlp mlp = new Mlp(1000, 3);
    float[] parameters = parameters(mlp, 1);
    List<LabelledRow> rows = rows(mlp, 5, 1);
    Result.ofDevice(mlp, MlpCuda.source(), parameters, rows, parameters);
    long before = device.freeBytes();
    for (int i = 0; i < 20; i++) {
      Result.ofDevice(mlp, MlpCuda.source(), parameters, rows, parameters);
    }
    // Each holds 2 MiB and more.
    assertThat(before - device.freeBytes()).isLessThanOrEqualTo(4L << 20);
  }

  /** Each a kernel that one could plausibly write, and whose bits are others. */
  @ParameterizedTest
  @EnumSource(Mutation.class)
  void shouldGiveOtherBitsWhenTheKernelIs(Mutation mutation) {
    Mlp mlp = new Mlp(ODD);
    float[] parameters = parameters(mlp, 3);
    List<LabelledRow> rows = rows(mlp, 40, 7);
    // What a zero times infinity adds shows a skip that is missing.
    parameters[mlp.weightsAt(0) + 5] = Float.POSITIVE_INFINITY;
    rows.forEach(row -> row.features()[0] = 0.0f);
    float[] start = parameters(mlp, 4);
    String mutated = mutation.of(MlpCuda.source());
    assertThat(mutated).isNotEqualTo(MlpCuda.source());
    Result host = Result.ofHost(mlp, parameters, rows, start);
    assertThat(Result.ofDevice(mlp, MlpCuda.source(), parameters, rows, start)).isEqualTo(host);
    assertThat(Result.ofDevice(mlp, mutated, parameters, rows, start)).isNotEqualTo(host);
  }

  private enum Mutation {
    CONTRACTED("return __fadd_rn(sum, __fmul_rn(a, b));", "return __fmaf_rn(a, b, sum);"),
    BIAS_LAST(
        "float z = args.parameters[(i64)args.in * args.out + j];",
        "float z = 0.0f;",
        "args.output[at] =",
        "z = plus(z, args.parameters[(i64)args.in * args.out + j]); args.output[at] ="),
    DESCENDING("for (int i = 0; i < args.in; i++)", "for (int i = args.in - 1; i >= 0; i--)"),
    WITHOUT_SKIP("if (a[i] != 0.0f) z =", "z ="),
    ROWS_REVERSED(
        "for (i64 row = 0; row < args.rows; row++)",
        "for (i64 row = args.rows - 1; row >= 0; row--)"),
    FROM_ZERO(
        "float sum = args.gradient[at];",
        "float sum = 0.0f;",
        "args.gradient[at] = sum;",
        "args.gradient[at] = plus(args.gradient[at], sum);"),
    PASSED_DOWN_BACKWARDS(
        "sum = __fmul_rn(d[0], weight[0]);",
        "sum = __fmul_rn(d[args.out - 1], weight[args.out - 1]);",
        "for (int j = 1; j < args.out; j++)",
        "for (int j = args.out - 2; j >= 0; j--)"),
    WITHOUT_RELU("args.rectify && z <= 0.0f", "false"),
    PASSED_THROUGH_ZEROS("if (args.input[at] != 0.0f) {", "{");

    private final String from;
    private final String to;
    private final String thenFrom;
    private final String thenTo;

    Mutation(String from, String to) {
      this(from, to, "", "");
    }

    Mutation(String from, String to, String thenFrom, String thenTo) {
      this.from = from;
      this.to = to;
      this.thenFrom = thenFrom;
      this.thenTo = thenTo;
    }

    String of(String source) {
      assertThat(source).contains(from).contains(thenFrom);
      String mutated = source.replace(from, to);
      return thenFrom.isEmpty() ? mutated : mutated.replace(thenFrom, thenTo);
    }
  }

  /** What a pass gives, a NaN being a NaN; the same forward pass must score alike by itself. */
  private record Result(Score score, List<Integer> gradient) {
    static Result ofHost(Mlp mlp, float[] parameters, List<LabelledRow> rows, float[] start) {
      float[] gradient = start.clone();
      Score score = mlp.gradientSum(parameters, rows, gradient);
      return new Result(score, bits(gradient));
    }

    static Result ofDevice(
        Mlp mlp, String source, float[] parameters, List<LabelledRow> rows, float[] start) {
      float[] host = start.clone();
      try (CudaStream stream = CudaStream.create(device);
          DeviceMemory memory = DeviceMemory.allocate(device, (long) host.length * Float.BYTES);
          MlpCuda model = new MlpCuda(mlp, stream, source)) {
        DeviceView gradient = memory.view(DType.F32);
        model.load(parameters);
        View.of(host).copyTo(gradient);
        Score score = model.gradientSum(rows, gradient);
        stream.drain(TIMEOUT_NS);
        gradient.copyTo(View.of(host));
        assertThat(model.evaluate(rows)).isEqualTo(score);
        return new Result(score, bits(host));
      }
    }
  }

  private static List<Integer> bits(float[] values) {
    List<Integer> bits = new ArrayList<>();
    for (float value : values) {
      bits.add(Float.floatToIntBits(value));
    }
    return bits;
  }

  /** He and Glorot with biases that are not zero. */
  private static float[] parameters(Mlp mlp, long seed) {
    float[] parameters = mlp.initialParameters(seed);
    SplitMix biases = new SplitMix(~seed);
    for (int layer = 0; layer < mlp.layers(); layer++) {
      for (int b = 0; b < mlp.units(layer + 1); b++) {
        parameters[mlp.biasesAt(layer) + b] = 0.3f * biases.signedUnit();
      }
    }
    return parameters;
  }

  /** Rows with inputs of -1 .. 1, a third of them zero, some of those negative. */
  private static List<LabelledRow> rows(Mlp mlp, int count, long seed) {
    SplitMix stream = new SplitMix(seed);
    List<LabelledRow> rows = new ArrayList<>();
    for (int id = 0; id < count; id++) {
      float[] features = new float[mlp.inputs()];
      for (int i = 0; i < features.length; i++) {
        int kind = stream.below(6);
        features[i] = kind == 0 ? 0.0f : kind == 1 ? -0.0f : stream.signedUnit();
      }
      rows.add(new LabelledRow(id, features, stream.below(mlp.classes())));
    }
    return rows;
  }
}
