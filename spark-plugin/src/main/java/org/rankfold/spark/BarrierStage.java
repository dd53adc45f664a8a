// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import scala.Function1;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Spark's barrier stage as Java sees it. */
final class BarrierStage {
  /** A task's work: its partition in, one result out. */
  interface Body<T, R> extends Serializable {
    R call(Iterator<T> rows) throws Exception;
  }

  private interface Partition<T, R>
      extends Function1<scala.collection.Iterator<T>, scala.collection.Iterator<R>>, Serializable {}

  private BarrierStage() {}

  /** Runs the body on every partition at once; the results in the order of partitions. */
  static <T, R> List<R> collect(JavaRDD<T> data, Body<T, R> body) {
    @SuppressWarnings("unchecked")
    ClassTag<R> tag = (ClassTag<R>) (Object) ClassTag$.MODULE$.Object();
    Partition<T, R> partition = rows -> one(body, CollectionConverters.asJava(rows));
    return data.rdd().barrier().mapPartitions(partition, false, tag).toJavaRDD().collect();
  }

  private static <T, R> scala.collection.Iterator<R> one(Body<T, R> body, Iterator<T> rows) {
    try {
      return scala.collection.Iterator$.MODULE$.single(body.call(rows));
    } catch (Exception e) {
      throw BarrierStage.<RuntimeException>unchanged(e);
    }
  }

  /** Spark takes any exception; Scala's signatures have none. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> E unchanged(Exception e) throws E {
    throw (E) e;
  }
}
